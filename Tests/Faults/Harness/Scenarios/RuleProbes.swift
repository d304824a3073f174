import Errand
import ErrandRedis
import Foundation
import Synchronization
import TestSupport

/// Self-tests of the harness: rules of scenarios, and the runs themselves.
extension Scenario {
    static let ruleProbes = [
        Scenario("X07", "a job runs twice although none may") { context in
            context.rules {
                $0.forbidsDuplicates = true
                // That it has already ended is irrelevant.
                $0.mayRunAfterItsEnd = true
            }
            let jobs = try await probedJobs(context)
            let body = try storedText(of: jobs[0], context)
            try await endProbed(jobs, context)
            try await context.drain()
            try await context.write("HSET " + ScenarioContext.key("body") + " " + jobs[0], body)
            try await context.write("RPUSH " + ScenarioContext.key("ready:5"), jobs[0])
            context.injected()
            try await eventually("it runs again") { context.ledger.begun[jobs[0]] == 2 }
        },
        Scenario("X08", "a job runs twice at the same time although none may") { context in
            context.rules {
                $0.forbidsOverlaps = true
                $0.mayRunAfterItsEnd = true
            }
            try context.server()
            let gate = context.directory + "/gate"
            let id = try await context.push(1, "gate") { $0.gate = gate }[0]
            try await context.write("RPUSH " + ScenarioContext.key("ready:5"), id)
            try await context.workers(2) { $0.concurrency = 1 }
            try await eventually("it runs twice") { context.ledger.begun[id] == 2 }
            context.injected()
            try Data().write(to: URL(fileURLWithPath: gate))
        },
        Scenario("X09", "a job begins before its time") { context in
            try context.server()
            let ids = try await context.push(1, "mark") { $0.delay = 3_600_000 }
            try await context.write("ZADD " + ScenarioContext.key("scheduled") + " 1", ids[0])
            context.injected()
            try await endProbed(ids, context)
        },
        Scenario("X10", "a job runs with other arguments than were pushed") { context in
            let jobs = try await probedJobs(context)
            let body = try storedText(of: jobs[0], context)
            let other = body.replacing(#""arguments":{"id":"\#(jobs[0])""#, with: #""arguments":{"id":"another""#)
            try await context.write("HSET " + ScenarioContext.key("body") + " " + jobs[0], other)
            context.injected(body == other ? 0 : 1)
            try await endProbed(jobs, context)
        },
        Scenario("X11", "a name without a job is left over") { context in
            // The key itself may remain, because the audit must report it.
            context.rules { $0.toleratedKeys = ["unique:of"] }
            try await endProbed(try await probedJobs(context), context)
            try await context.write("HSET " + ScenarioContext.key("unique:of") + " nobody", "name")
            context.injected()
        },
        Scenario("X12", "a token is issued twice") { context in
            context.rules { $0.mayRunAfterItsEnd = true }
            let jobs = try await probedJobs(context)
            try await endProbed(jobs, context)
            try repeatToken(of: jobs[0], context)
            context.injected()
        },
        Scenario("X13", "a server loses data, and a later job is deleted") { context in
            context.rules { $0.serverLosesData = true }
            try context.server()
            context.injected()
            let jobs = try await context.push(3, "mark")
            for key in ["HDEL " + ScenarioContext.key("body"), "LREM " + ScenarioContext.key("ready:5") + " 0"] {
                try await context.write(key, jobs[0])
            }
            try await endProbed(jobs, context)
        },
        Scenario("X14", "a server loses data with an earlier job") { context in
            context.rules { $0.serverLosesData = true }
            let jobs = try await probedJobs(context)
            for key in ["HDEL " + ScenarioContext.key("body"), "LREM " + ScenarioContext.key("ready:5") + " 0"] {
                try await context.write(key, jobs[0])
            }
            context.injected()
            try await endProbed(Array(jobs.dropFirst()), context)
        },
        Scenario("X15", "a worker dies by itself, and another one runs its jobs") { context in
            let jobs = try await probedJobs(context)
            let worker = try await context.worker()
            context.injected()
            _ = Foundation.kill(worker.pid, SIGSEGV)
            try await endProbed(jobs, context)
        },
        Scenario("X16", "all heartbeats are lost, and a grace is granted") { context in
            context.rules { $0.forbidsGrace = true }
            let jobs = try await probedJobs(context)
            try await endProbed(jobs, context)
            try await context.write("HSET " + ScenarioContext.key("runtime") + " beat", "1")
            context.injected()
            try await eventually("grace is granted") {
                try context.state.withLock(\.watched)?.run("HGET", ScenarioContext.key("runtime"), "leap").isEmpty
                    == false
            }
        },
        Scenario("X17", "a job is cancelled that should reach its end") { context in
            let jobs = try await probedJobs(context)
            _ = try await context.console.cancel([jobs[0]], on: ScenarioContext.queue)
            context.injected()
            try await endProbed(Array(jobs.dropFirst()), context)
        },
        Scenario("X18", "work never continues") { context in
            try await endProbed(try await probedJobs(context), context)
            context.injected()
            try await context.recovers("it goes on", within: .milliseconds(100)) { false }
        },
    ]

    private static func storedText(of id: String, _ context: ScenarioContext) throws -> String {
        try context.state.withLock(\.watched)?.run("HGET", ScenarioContext.key("body"), id) ?? ""
    }

    /// Writes the lines of a worker that gets a job with the same token again.
    private static func repeatToken(of id: String, _ context: ScenarioContext) throws {
        guard let run = context.ledger.lines.first(where: { $0.id == id && $0.what == "begin" }) else {
            throw TestFailure("\(id) did not run")
        }
        let ledger = try FileHandle(forWritingTo: URL(fileURLWithPath: context.ledger.path))
        try ledger.seekToEnd()
        for what in ["begin", "end"] {
            try ledger.write(contentsOf: Data("\(what) \(id) \(run.token) \(ScenarioContext.now) 1 1 .\n".utf8))
        }
        try ledger.close()
    }
}
