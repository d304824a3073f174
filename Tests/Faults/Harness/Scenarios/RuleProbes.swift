import Errand
import ErrandRedis
import Foundation
import Synchronization
import TestSupport

/// What the harness must notice where a scenario has rules of its own, and of the runs themselves.
extension Scenario {
    static let ruleProbes = [
        Scenario("X07", "a job runs twice where none may") { play in
            play.rules {
                $0.forbidsDuplicates = true
                // That it is over already is another matter.
                $0.mayRunAfterItsEnd = true
            }
            let jobs = try await probedJobs(play)
            let body = try storedText(of: jobs[0], play)
            try await endProbed(jobs, play)
            try await play.drain()
            try await play.write("HSET " + Play.key("body") + " " + jobs[0], body)
            try await play.write("RPUSH " + Play.key("ready:5"), jobs[0])
            play.struck()
            try await eventually("it runs again") { play.ledger.begun[jobs[0]] == 2 }
        },
        Scenario("X08", "a job runs twice at once where none may") { play in
            play.rules {
                $0.forbidsOverlaps = true
                $0.mayRunAfterItsEnd = true
            }
            try play.server()
            let gate = play.directory + "/gate"
            let id = try await play.push(1, "gate") { $0.gate = gate }[0]
            try await play.write("RPUSH " + Play.key("ready:5"), id)
            try await play.workers(2) { $0.concurrency = 1 }
            try await eventually("it runs twice") { play.ledger.begun[id] == 2 }
            play.struck()
            try Data().write(to: URL(fileURLWithPath: gate))
        },
        Scenario("X09", "a job begins before its time") { play in
            try play.server()
            let ids = try await play.push(1, "mark") { $0.delay = 3_600_000 }
            try await play.write("ZADD " + Play.key("scheduled") + " 1", ids[0])
            play.struck()
            try await endProbed(ids, play)
        },
        Scenario("X10", "a job runs with other arguments than were pushed") { play in
            let jobs = try await probedJobs(play)
            let body = try storedText(of: jobs[0], play)
            let other = body.replacing(#""arguments":{"id":"\#(jobs[0])""#, with: #""arguments":{"id":"another""#)
            try await play.write("HSET " + Play.key("body") + " " + jobs[0], other)
            play.struck(body == other ? 0 : 1)
            try await endProbed(jobs, play)
        },
        Scenario("X11", "a name is left that belongs to no job") { play in
            // The key itself may be left here: it is the audit that must say so.
            play.rules { $0.toleratedKeys = ["named"] }
            try await endProbed(try await probedJobs(play), play)
            try await play.write("HSET " + Play.key("named") + " nobody", "name")
            play.struck()
        },
        Scenario("X12", "a token is given out twice") { play in
            play.rules { $0.mayRunAfterItsEnd = true }
            let jobs = try await probedJobs(play)
            try await endProbed(jobs, play)
            try repeatToken(of: jobs[0], play)
            play.struck()
        },
        Scenario("X13", "a server loses data, and a job is thrown away that was pushed later") { play in
            play.rules { $0.serverLosesData = true }
            try play.server()
            play.struck()
            let jobs = try await play.push(3, "mark")
            for key in ["HDEL " + Play.key("body"), "LREM " + Play.key("ready:5") + " 0"] {
                try await play.write(key, jobs[0])
            }
            try await endProbed(jobs, play)
        },
        Scenario("X14", "a server loses data, and a job with it that was pushed before") { play in
            play.rules { $0.serverLosesData = true }
            let jobs = try await probedJobs(play)
            for key in ["HDEL " + Play.key("body"), "LREM " + Play.key("ready:5") + " 0"] {
                try await play.write(key, jobs[0])
            }
            play.struck()
            try await endProbed(Array(jobs.dropFirst()), play)
        },
        Scenario("X15", "a worker dies of itself, and another one does its work") { play in
            let jobs = try await probedJobs(play)
            let worker = try await play.worker()
            play.struck()
            _ = Foundation.kill(worker.pid, SIGSEGV)
            try await endProbed(jobs, play)
        },
        Scenario("X16", "nobody's beats are heard, and everybody is granted time") { play in
            play.rules { $0.forbidsGrace = true }
            let jobs = try await probedJobs(play)
            try await endProbed(jobs, play)
            try await play.write("HSET " + Play.key("seq") + " beat", "1")
            play.struck()
            try await eventually("grace is granted") {
                try play.state.withLock(\.watched)?.run("HGET", Play.key("seq"), "leap").isEmpty == false
            }
        },
        Scenario("X17", "a job is cancelled that was to run to its end") { play in
            let jobs = try await probedJobs(play)
            _ = try await play.console.cancel([jobs[0]], on: Play.queue)
            play.struck()
            try await endProbed(Array(jobs.dropFirst()), play)
        },
        Scenario("X18", "work never goes on") { play in
            try await endProbed(try await probedJobs(play), play)
            play.struck()
            try await play.recovers("it goes on", within: .milliseconds(100)) { false }
        },
    ]

    private static func storedText(of id: String, _ play: Play) throws -> String {
        try play.state.withLock(\.watched)?.run("HGET", Play.key("body"), id) ?? ""
    }

    /// Writes what a worker would that got a job's token for the same job again.
    private static func repeatToken(of id: String, _ play: Play) throws {
        guard let run = play.ledger.lines.first(where: { $0.id == id && $0.what == "begin" }) else {
            throw TestFailure("\(id) did not run")
        }
        let ledger = try FileHandle(forWritingTo: URL(fileURLWithPath: play.ledger.path))
        try ledger.seekToEnd()
        for what in ["begin", "end"] {
            try ledger.write(contentsOf: Data("\(what) \(id) \(run.token) \(Play.now) 1 1 .\n".utf8))
        }
        try ledger.close()
    }
}
