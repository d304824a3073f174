import Errand
import ErrandRedis
import Synchronization
import TestSupport

/// What the harness itself must notice: each does on purpose what no fault may. They are no part of the catalogue; `--only` finds them.
extension Scenario {
    static let probes = plainProbes + ruleProbes

    private static let plainProbes = [
        Scenario("X01", "a job is thrown away past Errand") { context in
            let jobs = try await probedJobs(context)
            for key in ["HDEL " + ScenarioContext.key("body"), "LREM " + ScenarioContext.key("ready:5") + " 0"] {
                try await context.write(key, jobs[0])
            }
            context.injected()
            try await endProbed(jobs, context)
        },
        Scenario("X02", "a job is taken out of the line past Errand, and stays") { context in
            context.rules { $0.drain = .seconds(1) }
            let jobs = try await probedJobs(context)
            try await context.write("LREM " + ScenarioContext.key("ready:5") + " 0", jobs[0])
            context.injected()
            try await endProbed(jobs, context)
        },
        Scenario("X03", "a job is done again after its end, past Errand") { context in
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
        Scenario("X05", "all is well at the second attempt only") { context in
            try await endProbed(try await probedJobs(context), context)
            context.injected()
            let attempt = attempts.withLock {
                $0 += 1; return $0
            }
            try await eventually("it is the second attempt", within: .zero) { attempt > 1 }
        },
        Scenario("X06", "a promise is broken at the first attempt only") { context in
            try await endProbed(try await probedJobs(context), context)
            context.injected()
            let attempt = attempts.withLock {
                $0 += 1; return $0
            }
            context.expect(attempt > 1, "the first attempt breaks it")
        },
    ]

    private static let attempts = Mutex(0)

    /// Jobs that wait: there is no worker yet.
    static func probedJobs(_ context: ScenarioContext) async throws -> [String] {
        try context.server()
        return try await context.push(3, "mark")
    }

    /// A worker does them; waits for their ends as scenarios do, so that it breaks off where one is missing.
    static func endProbed(_ ids: [String], _ context: ScenarioContext) async throws {
        context.rules { $0.lateness = .seconds(1) }
        try await context.worker()
        try await context.recovers("the jobs end", within: .seconds(3)) {
            ids.allSatisfy { context.ledger.ended[$0] != nil }
        }
    }
}

extension ScenarioContext {
    /// Runs a command of words, and a last one as it is.
    func write(_ words: String, _ last: String) async throws {
        let words = words.split(separator: " ").map(String.init) + [last]
        try await write(words[0], words.dropFirst().map { Array($0.utf8) })
    }
}
