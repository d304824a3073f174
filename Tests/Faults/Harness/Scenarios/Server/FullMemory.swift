import Errand
import ErrandRedis
import Foundation
import TestSupport

/// Servers without memory.
extension Scenario {
    static let fullMemory = [
        Scenario("F42", "memory is full: pushes are refused, everything else goes on", quick: true) { context in
            context.rules {
                $0.forbidsGrace = true
                $0.forbidsDuplicates = true
            }
            let server = try context.server()
            let workers = try await context.workers(2)
            let producer = try context.connect(server.url, patience: .milliseconds(300))
            for _ in 0..<context.size(quick: 1, full: 10) {
                let refused = context.accounts.refusals
                // Room for hundreds of jobs, also after all scripts have been loaded.
                try server.configure("maxmemory", "\(try server.count("used_memory") + 3_000_000)")
                // Faster than the workers can make room.
                let load = context.load(rate: 400, "nap", via: producer) {
                    $0.milliseconds = 100
                    $0.pad = 4000
                }
                try await eventually("a push is refused") { context.accounts.refusals > refused }
                let before = try await context.totals()
                // Longer than any lease.
                try await Task.sleep(for: .seconds(context.size(quick: 5, full: 30)))
                let after = try await context.totals()
                context.expect(after["finished"] > before["finished"] + 50, "runs did not end while memory was full")
                context.injected(context.accounts.refusals - refused)
                try server.configure("maxmemory", "0")
                let healed = ContinuousClock.now
                let marks = try await context.push(5, "mark") { $0.priority = 9 }
                try await context.recovers("new jobs run", within: .seconds(8), since: healed) {
                    marks.allSatisfy { context.ledger.ended[$0] != nil }
                }
                try await load.stop()
                try await context.drain()
            }
            context.expectInjection(try server.errors("OOM") > 0, "the server never said OOM")
            let totals = try await context.totals()
            context.expect(totals["recovered"] == 0, "\(totals["recovered"]) jobs were taken back")
            context.expect(workers.allSatisfy { context.sessions(of: $0).count == 1 }, "a session was lost")
        },
        Scenario("F43", "every transition is made while not a byte is free", quick: true, everyTransition),
    ]

    private static func everyTransition(_ context: ScenarioContext) async throws {
        // Of a deleted schedule its revision stays.
        context.rules {
            $0.toleratedKeys = ["unscheduled"]
            $0.jobsMayBeCancelled = true
        }
        let server = try context.server()
        let jobs = try await WaitingJobs(context)
        let schedule = try Schedule(
            "hourly",
            .every(.seconds(3600)),
            pushing: OperationDescription("mark", queue: ScenarioContext.queue)
        )
        _ = try await context.console.put(schedule)
        try server.configure("maxmemory", "1")
        try await claimByHand(context)
        try await auditClean(context, "a note, a reconciliation and a release")
        try await steer(schedule, context)
        try await auditClean(context, "what is done to schedules")
        try await loseAPlace(of: jobs.doomed[0], context, server)
        try await auditClean(context, "a repair")
        let worker = try await work(jobs, context)
        try await operate(jobs, context)
        try await auditClean(context, "cancel, delete, retry and settings")
        try await pushInVain(context)
        try await auditClean(context, "a refused push")
        try await leave(worker, context)
        let cleared = try await context.console.clear(ScenarioContext.queue)
        context.expect(cleared >= 1, "clear cancelled \(cleared) jobs")
        try await auditClean(context, "clear")
        try server.configure("maxmemory", "0")
        try await context.worker()
        let marks = try await context.push(5, "mark")
        try await context.recovers("new jobs run", within: .seconds(5)) {
            marks.allSatisfy { context.ledger.ended[$0] != nil }
        }
    }

    /// One of each kind of job, before any worker runs.
    private struct WaitingJobs {
        /// Jobs that finish by themselves: at once, after a failure, after a delay.
        let ending: [String]
        let hopeless: [String]
        let doomed: [String]
        let stuck: [String]

        init(_ context: ScenarioContext) async throws {
            let plain = try await context.push(20, "nap") { $0.milliseconds = 50 }
            let failing = try await context.push(3, "failonce") { $0.retries = 2 }
            let late = try await context.push(3, "mark") { $0.delay = 1500 }
            ending = plain + failing + late
            hopeless = try await context.push(1, "final") { $0.ends = false }
            doomed = try await context.push(2, "nap") {
                $0.delay = 600_000
                $0.ends = false
            }
            stuck = try await context.push(1, "gate") {
                $0.gate = context.directory + "/never"
                $0.timeout = .seconds(300)
                $0.name = "gate"
                $0.unique = .drop
            }
        }
    }

    /// Workers register, claim and send heartbeats without a byte; the first of them is killed. Returns the second.
    private static func work(_ jobs: WaitingJobs, _ context: ScenarioContext) async throws -> Program {
        let first = try await context.worker()
        try await eventually("the gate waits") { context.ledger.begun[jobs.stuck[0]] != nil }
        try await auditClean(context, "claims")
        try await context.kill(first)
        let killed = ContinuousClock.now
        let second = try await context.worker { $0.concurrency = 8 }
        try await context.recovers("the killed worker's job runs again", within: .seconds(12), since: killed) {
            context.ledger.begun[jobs.stuck[0]] == 2
        }
        try await eventually("all others have ended") {
            jobs.ending.allSatisfy { context.ledger.ended[$0] != nil }
        }
        try await auditClean(context, "recovery, promotion, failures and ends")
        return second
    }

    /// An operator cancels, deletes, retries and configures.
    private static func operate(_ jobs: WaitingJobs, _ context: ScenarioContext) async throws {
        let console = try context.console
        let endings = try await console.cancel([jobs.doomed[0]], on: ScenarioContext.queue)
        let deleted = try await console.delete([jobs.doomed[1]], on: ScenarioContext.queue)
        context.expect(endings == [.cancelled], "cancel answered \(endings)")
        context.expect(deleted.count == 1, "delete answered \(deleted)")
        try await eventually("the hopeless job is dead") { try await context.status().dead == 1 }
        let retried = try await console.retry(jobs.hopeless, on: ScenarioContext.queue)
        context.expect(retried == [.retried], "retry answered \(retried)")
        try await console.configure(ScenarioContext.queue, QueueSettings(isPaused: true))
        try await console.configure(ScenarioContext.queue, QueueSettings(isPaused: false))
    }

    private static func pushInVain(_ context: ScenarioContext) async throws {
        do {
            _ = try await Producer(broker: context.console).push(envelopes: [try context.job("mark")])
            context.expect(false, "a push was taken although no memory is free")
        } catch let error as BrokerError {
            context.expect(error.code == .full, "the push failed with \(error)")
            context.injected()
        }
    }

    /// A worker leaves and releases its job.
    private static func leave(_ worker: Program, _ context: ScenarioContext) async throws {
        worker.signal(SIGTERM)
        let left = try await worker.end(within: .seconds(40))
        context.expect(left == 0, "the worker left with \(left)")
        context.expect(try await context.status().ready > 0, "nothing was given back")
        try await auditClean(context, "a release")
    }

    /// What a session does whose worker keeps something of a job, and then does not know it any more.
    private static func claimByHand(_ context: ScenarioContext) async throws {
        let console = try context.console
        let session = Session(
            id: "without-a-byte",
            host: "here",
            pid: 1,
            concurrency: 1,
            queues: [ScenarioContext.queue],
            lease: .seconds(2),
            operations: ["nap": OperationDefaults()]
        )
        try await console.register(session, on: ScenarioContext.queue)
        let exchange = Exchange(
            session: session,
            call: 1,
            reports: [],
            wanted: 1,
            freeSlots: 1,
            begun: 0,
            longestWait: .seconds(1),
            stopGrace: .seconds(1)
        )
        guard let claim = try await console.exchange(exchange, on: ScenarioContext.queue).claims.first else {
            return context.expect(false, "nothing was claimed")
        }
        let note = JobUpdate(
            id: claim.id,
            token: claim.token,
            progress: JobProgress(0.5),
            checkpoint: Array("half".utf8)
        )
        let counted = try await console.update(note, of: session, on: ScenarioContext.queue)
        context.expect(counted, "an update did not count")
        let kept = try await console.checkpoint(of: claim.id, on: ScenarioContext.queue)
        context.expect(kept == Array("half".utf8), "of a note is kept: \(kept ?? [])")
        let reconciled = try await console.reconcile(session, call: 1, runs: [], on: ScenarioContext.queue)
        context.expect(reconciled.released == 1, "a reconciliation gave \(reconciled.released) jobs back")
        try await console.release(session, on: ScenarioContext.queue)
    }

    /// A schedule that is there is shown, paused, resumed and deleted; no other one is taken.
    private static func steer(_ schedule: Schedule, _ context: ScenarioContext) async throws {
        let console = try context.console
        let listed = try await console.schedules(on: ScenarioContext.queue, from: nil).records.map(\.name)
        context.expect(listed == [schedule.name], "of schedules there are \(listed)")
        let another = try Schedule(
            "another",
            schedule.timing,
            pushing: OperationDescription("mark", queue: ScenarioContext.queue)
        )
        do throws(BrokerError) {
            _ = try await console.put(another)
            context.expect(false, "a schedule was taken although no memory is free")
        } catch {
            context.expect(error.code == .full, "a schedule failed with \(error)")
            context.injected()
        }
        let isPaused = try await console.pauseSchedule(schedule.name, on: ScenarioContext.queue)
        let isResumed = try await console.resumeSchedule(schedule.name, on: ScenarioContext.queue)
        let isDeleted = try await console.deleteSchedule(schedule.name, on: ScenarioContext.queue)
        context.expect(
            isPaused && isResumed && isDeleted,
            "of pausing, resuming and deleting a schedule one did nothing"
        )
        let left = try await console.schedule(schedule.name, on: ScenarioContext.queue)
        context.expect(left == nil, "a deleted schedule is there")
    }

    /// A waiting job is nowhere any more; the doctor puts it back where it was.
    private static func loseAPlace(of id: String, _ context: ScenarioContext, _ server: RedisServer) async throws {
        let due = try server.run("ZSCORE", ScenarioContext.key("scheduled"), id)
        try server.run("ZREM", ScenarioContext.key("scheduled"), id)
        let found = try await context.console.audit(ScenarioContext.queue, repair: true)
        context.expect(found.map(\.kind) == ["body_without_position"], "the audit found \(found.map(\.kind))")
        context.expect(found.allSatisfy(\.repaired), "the audit did not mend \(found.map(\.message))")
        let again = try server.run("ZSCORE", ScenarioContext.key("scheduled"), id)
        context.expect(again == due, "a job that was due at \(due) is due at \(again) now")
    }

    private static func auditClean(_ context: ScenarioContext, _ what: String) async throws {
        let findings = try await context.audit()
        context.expect(findings.isEmpty, "after \(what) the audit found \(findings.prefix(3).map(\.message))")
    }
}
