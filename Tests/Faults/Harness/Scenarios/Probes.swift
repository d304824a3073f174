import Errand
import ErrandRedis
import Synchronization
import TestSupport

/// What the harness itself must notice: each does on purpose what no fault may. They are no part of the catalogue; `--only` finds them.
extension Scenario {
    static let probes = plainProbes + ruleProbes

    private static let plainProbes = [
        Scenario("X01", "a job is thrown away past Errand") { play in
            let jobs = try await probedJobs(play)
            for key in ["HDEL " + Play.key("body"), "LREM " + Play.key("ready:5") + " 0"] {
                try await play.write(key, jobs[0])
            }
            play.struck()
            try await endProbed(jobs, play)
        },
        Scenario("X02", "a job is taken out of the line past Errand, and stays") { play in
            play.rules { $0.drain = .seconds(1) }
            let jobs = try await probedJobs(play)
            try await play.write("LREM " + Play.key("ready:5") + " 0", jobs[0])
            play.struck()
            try await endProbed(jobs, play)
        },
        Scenario("X03", "a job is done again after its end, past Errand") { play in
            let jobs = try await probedJobs(play)
            let body = try play.state.withLock(\.watched)?.run("HGET", Play.key("body"), jobs[0]) ?? ""
            try await endProbed(jobs, play)
            try await play.drain()
            try await play.write("HSET " + Play.key("body") + " " + jobs[0], body)
            try await play.write("RPUSH " + Play.key("ready:5"), jobs[0])
            play.struck()
            try await eventually("it runs again") { play.ledger.begun[jobs[0]] == 2 }
        },
        Scenario("X04", "no fault happens") { play in
            try await endProbed(try await probedJobs(play), play)
        },
        Scenario("X05", "all is well at the second attempt only") { play in
            try await endProbed(try await probedJobs(play), play)
            play.struck()
            let attempt = attempts.withLock {
                $0 += 1; return $0
            }
            try await eventually("it is the second attempt", within: .zero) { attempt > 1 }
        },
        Scenario("X06", "a promise is broken at the first attempt only") { play in
            try await endProbed(try await probedJobs(play), play)
            play.struck()
            let attempt = attempts.withLock {
                $0 += 1; return $0
            }
            play.expect(attempt > 1, "the first attempt breaks it")
        },
    ]

    private static let attempts = Mutex(0)

    /// Jobs that wait: there is no worker yet.
    static func probedJobs(_ play: Play) async throws -> [String] {
        try play.server()
        return try await play.push(3, "mark")
    }

    /// A worker does them; waits for their ends as scenarios do, so that it breaks off where one is missing.
    static func endProbed(_ ids: [String], _ play: Play) async throws {
        play.rules { $0.lateness = .seconds(1) }
        try await play.worker()
        try await play.recovers("the jobs end", within: .seconds(3)) { ids.allSatisfy { play.ledger.ended[$0] != nil } }
    }
}

extension Play {
    /// Runs a command of words, and a last one as it is.
    func write(_ words: String, _ last: String) async throws {
        let words = words.split(separator: " ").map(String.init) + [last]
        try await write(words[0], words.dropFirst().map { Array($0.utf8) })
    }
}
