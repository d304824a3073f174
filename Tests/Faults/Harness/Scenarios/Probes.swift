import Errand
import ErrandRedis
import Synchronization
import TestSupport

/// Self-tests of the harness: each causes a violation on purpose. They are not in the catalogue; `--only` selects them.
extension Scenario {
    static let probes = plainProbes + ruleProbes

    private static let plainProbes = [
        Scenario("X01", "a job is deleted directly") { context in
            let jobs = try await probedJobs(context)
            for key in ["HDEL " + ScenarioContext.key("body"), "LREM " + ScenarioContext.key("ready:5") + " 0"] {
                try await context.write(key, jobs[0])
            }
            context.injected()
            try await endProbed(jobs, context)
        },
        Scenario("X02", "a job is removed from its ready list directly, and stays") { context in
            context.rules { $0.drain = .seconds(1) }
            let jobs = try await probedJobs(context)
            try await context.write("LREM " + ScenarioContext.key("ready:5") + " 0", jobs[0])
            context.injected()
            try await endProbed(jobs, context)
        },
        Scenario("X03", "a job runs again after its end, without Errand") { context in
            let jobs = try await probedJobs(context)
            let body = try context.state.withLock(\.watched)?.run("HGET", ScenarioContext.key("body"), jobs[0]) ?? ""
            try await endProbed(jobs, context)
            try await context.drain()
            try await context.write("HSET " + ScenarioContext.key("body") + " " + jobs[0], body)
            try await context.write("RPUSH " + ScenarioContext.key("ready:5"), jobs[0])
            context.injected()
            try await eventually("it runs again") { context.ledger.begun[jobs[0]] == 2 }
        },
        Scenario("X04", "no fault happens") { context in
            try await endProbed(try await probedJobs(context), context)
        },
        Scenario("X05", "only the second attempt succeeds") { context in
            try await endProbed(try await probedJobs(context), context)
            context.injected()
            let attempt = attempts.withLock {
                $0 += 1; return $0
            }
            try await eventually("it is the second attempt", within: .zero) { attempt > 1 }
        },
        Scenario("X06", "a promise is broken only at the first attempt") { context in
            try await endProbed(try await probedJobs(context), context)
            context.injected()
            let attempt = attempts.withLock {
                $0 += 1; return $0
            }
            context.expect(attempt > 1, "the first attempt breaks it")
        },
    ]

    private static let attempts = Mutex(0)

    /// Waiting jobs, without a worker yet.
    static func probedJobs(_ context: ScenarioContext) async throws -> [String] {
        try context.server()
        return try await context.push(3, "mark")
    }

    /// Lets a worker run them, and waits for their ends like scenarios do, so that it fails if one is missing.
    static func endProbed(_ ids: [String], _ context: ScenarioContext) async throws {
        context.rules { $0.lateness = .seconds(1) }
        try await context.worker()
        try await context.recovers("the jobs end", within: .seconds(3)) {
            ids.allSatisfy { context.ledger.ended[$0] != nil }
        }
    }
}

extension ScenarioContext {
    /// Runs a command of words and a last argument of raw bytes.
    func write(_ words: String, _ last: String) async throws {
        let words = words.split(separator: " ").map(String.init) + [last]
        try await write(words[0], words.dropFirst().map { Array($0.utf8) })
    }
}
