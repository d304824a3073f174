import Errand
import ErrandRedis
import Foundation
import TestSupport

/// Servers without memory.
extension Scenario {
    static let fullMemory = [
        Scenario("F42", "memory is full: pushes are refused, everything else goes on", quick: true) { play in
            play.rules {
                $0.forbidsGrace = true
                $0.forbidsDuplicates = true
            }
            let server = try play.server()
            let workers = try await play.workers(2)
            let producer = try play.connect(server.url, patience: .milliseconds(300))
            for _ in 0..<play.size(quick: 1, full: 10) {
                let refused = play.accounts.refusals
                try server.configure("maxmemory", "\(try server.count("used_memory") + 1_000_000)")
                // Faster than the workers can make room.
                let load = play.load(rate: 400, "nap", via: producer) {
                    $0.milliseconds = 100
                    $0.pad = 4000
                }
                try await eventually("a push is refused") { play.accounts.refusals > refused }
                let before = try await play.totals()
                // Longer than any lease.
                try await Task.sleep(for: .seconds(play.size(quick: 5, full: 30)))
                let after = try await play.totals()
                play.expect(after["finished"] > before["finished"] + 50, "runs did not end while memory was full")
                play.struck(play.accounts.refusals - refused)
                try server.configure("maxmemory", "0")
                let healed = ContinuousClock.now
                let marks = try await play.push(5, "mark") { $0.priority = 9 }
                try await play.recovers("new jobs run", within: .seconds(8), since: healed) {
                    marks.allSatisfy { play.ledger.ended[$0] != nil }
                }
                try await load.stop()
                try await play.drain()
            }
            play.expectStrike(try server.errors("OOM") > 0, "the server never said OOM")
            let totals = try await play.totals()
            play.expect(totals["recovered"] == 0, "\(totals["recovered"]) jobs were taken back")
            play.expect(workers.allSatisfy { play.sessions(of: $0).count == 1 }, "a session was lost")
        },
        Scenario("F43", "every transition is made while not a byte is free", quick: true, everyTransition),
    ]

    private static func everyTransition(_ play: Play) async throws {
        // Of a deleted schedule its revision stays.
        play.rules {
            $0.toleratedKeys = ["unscheduled"]
            $0.jobsMayBeCancelled = true
        }
        let server = try play.server()
        let console = try play.console
        // One of each kind waits; nobody works yet.
        let plain = try await play.push(20, "nap") { $0.milliseconds = 50 }
        let failing = try await play.push(3, "failonce") { $0.retries = 2 }
        let late = try await play.push(3, "mark") { $0.delay = 1500 }
        let hopeless = try await play.push(1, "final") { $0.ends = false }
        let doomed = try await play.push(2, "nap") {
            $0.delay = 600_000
            $0.ends = false
        }
        let stuck = try await play.push(1, "gate") {
            $0.gate = play.directory + "/never"
            $0.timeout = .seconds(300)
            $0.name = "gate"
            $0.unique = .drop
        }
        let schedule = try Schedule(
            "hourly",
            .every(.seconds(3600)),
            pushing: OperationDescription("mark", queue: Play.queue)
        )
        _ = try await console.put(schedule)
        try server.configure("maxmemory", "1")
        try await claimByHand(play)
        try await auditClean(play, "a note, a reconciliation and a release")
        try await steer(schedule, play)
        try await auditClean(play, "what is done to schedules")
        try await loseAPlace(of: doomed[0], play, server)
        try await auditClean(play, "a repair")
        // Registered, claimed and beaten for without a byte; the first of them is killed.
        let first = try await play.worker()
        try await eventually("the gate waits") { play.ledger.begun[stuck[0]] != nil }
        try await auditClean(play, "claims")
        try await play.kill(first)
        let killed = ContinuousClock.now
        let second = try await play.worker { $0.concurrency = 8 }
        try await play.recovers("the killed worker's job runs again", within: .seconds(12), since: killed) {
            play.ledger.begun[stuck[0]] == 2
        }
        try await eventually("all others have ended") {
            (plain + failing + late).allSatisfy { play.ledger.ended[$0] != nil }
        }
        try await auditClean(play, "recovery, promotion, failures and ends")
        let endings = try await console.cancel([doomed[0]], on: Play.queue)
        let deleted = try await console.delete([doomed[1]], on: Play.queue)
        play.expect(endings == [.cancelled], "cancel answered \(endings)")
        play.expect(deleted.count == 1, "delete answered \(deleted)")
        try await eventually("the hopeless job is dead") { try await play.status().dead == 1 }
        let revived = try await console.revive(hopeless, on: Play.queue)
        play.expect(revived == [.revived], "revive answered \(revived)")
        try await console.configure(Play.queue, QueueSettings(isPaused: true))
        try await console.configure(Play.queue, QueueSettings(isPaused: false))
        try await auditClean(play, "cancel, delete, revive and settings")
        do {
            _ = try await Producer(broker: console).push(envelopes: [try play.job("mark")])
            play.expect(false, "a push was taken although no memory is free")
        } catch let error as BrokerError {
            play.expect(error.code == .full, "the push failed with \(error)")
            play.struck()
        }
        try await auditClean(play, "a refused push")
        // The worker leaves and gives its job back, and the next one takes it.
        second.signal(SIGTERM)
        let left = try await second.end(within: .seconds(40))
        play.expect(left == 0, "the worker left with \(left)")
        play.expect(try await play.status().ready > 0, "nothing was given back")
        try await auditClean(play, "a release")
        let cleared = try await console.clear(Play.queue)
        play.expect(cleared >= 1, "clear cancelled \(cleared) jobs")
        try await auditClean(play, "clear")
        try server.configure("maxmemory", "0")
        try await play.worker()
        let marks = try await play.push(5, "mark")
        try await play.recovers("new jobs run", within: .seconds(5)) {
            marks.allSatisfy { play.ledger.ended[$0] != nil }
        }
    }

    /// What a session does whose worker keeps something of a job, and then does not know it any more.
    private static func claimByHand(_ play: Play) async throws {
        let console = try play.console
        let session = Session(
            id: "without-a-byte",
            host: "here",
            pid: 1,
            concurrency: 1,
            queues: [Play.queue],
            lease: .seconds(2),
            operations: ["nap": OperationDefaults()]
        )
        try await console.register(session, on: Play.queue)
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
        guard let claim = try await console.exchange(exchange, on: Play.queue).claims.first else {
            return play.expect(false, "nothing was claimed")
        }
        let note = JobNote(id: claim.id, token: claim.token, progress: JobProgress(0.5), checkpoint: Array("half".utf8))
        let counted = try await console.note(note, of: session, on: Play.queue)
        play.expect(counted, "a note did not count")
        let kept = try await console.checkpoint(of: claim.id, on: Play.queue)
        play.expect(kept == Array("half".utf8), "of a note is kept: \(kept ?? [])")
        let reconciled = try await console.reconcile(session, call: 1, runs: [], on: Play.queue)
        play.expect(reconciled.givenBack == 1, "a reconciliation gave \(reconciled.givenBack) jobs back")
        try await console.release(session, on: Play.queue)
    }

    /// A schedule that is there is shown, paused, resumed and deleted; no other one is taken.
    private static func steer(_ schedule: Schedule, _ play: Play) async throws {
        let console = try play.console
        let listed = try await console.schedules(on: Play.queue, from: nil).records.map(\.name)
        play.expect(listed == [schedule.name], "of schedules there are \(listed)")
        let another = try Schedule("another", schedule.timing, pushing: OperationDescription("mark", queue: Play.queue))
        do throws(BrokerError) {
            _ = try await console.put(another)
            play.expect(false, "a schedule was taken although no memory is free")
        } catch {
            play.expect(error.code == .full, "a schedule failed with \(error)")
            play.struck()
        }
        let isPaused = try await console.pauseSchedule(schedule.name, on: Play.queue)
        let isResumed = try await console.resumeSchedule(schedule.name, on: Play.queue)
        let isDeleted = try await console.deleteSchedule(schedule.name, on: Play.queue)
        play.expect(isPaused && isResumed && isDeleted, "of pausing, resuming and deleting a schedule one did nothing")
        let left = try await console.schedule(schedule.name, on: Play.queue)
        play.expect(left == nil, "a deleted schedule is there")
    }

    /// A waiting job is nowhere any more; the doctor puts it back where it was.
    private static func loseAPlace(of id: String, _ play: Play, _ server: RedisServer) async throws {
        let due = try server.run("ZSCORE", Play.key("scheduled"), id)
        try server.run("ZREM", Play.key("scheduled"), id)
        let found = try await play.console.audit(Play.queue, repair: true)
        play.expect(found.map(\.kind) == ["body_without_place"], "the audit found \(found.map(\.kind))")
        play.expect(found.allSatisfy(\.repaired), "the audit did not mend \(found.map(\.message))")
        let again = try server.run("ZSCORE", Play.key("scheduled"), id)
        play.expect(again == due, "a job that was due at \(due) is due at \(again) now")
    }

    private static func auditClean(_ play: Play, _ what: String) async throws {
        let findings = try await play.audit()
        play.expect(findings.isEmpty, "after \(what) the audit found \(findings.prefix(3).map(\.message))")
    }
}
