import Logging

/// Maintains one queue beside its poller: promotes due jobs, ticks schedules, recovers the jobs of dead workers, and
/// releases jobs that have waited here too long. Every worker does this about once a second, at random times; no leader
/// is needed.
struct QueueMaintenance {
    private static let recoveredTogether = 50

    private let poller: QueuePoller
    private let workerSession: WorkerSession

    init(_ poller: QueuePoller, _ workerSession: WorkerSession) {
        self.poller = poller
        self.workerSession = workerSession
    }

    func work() async {
        var (pace, chance) = (MaintenancePace(), SystemRandomNumberGenerator())
        var pause = Duration.milliseconds(Int.random(in: 20...200))
        var recovery = ContinuousClock.now
        while await workerSession.awaitUpkeep(of: poller.queue, for: pause) {
            poller.giveBackWaiting()
            // Promotion may be due hundreds of times a second. Recovery is rarely needed, but then for many jobs at
            // once.
            var leavesDead = false
            if ContinuousClock.now >= recovery {
                leavesDead = await recover()
                recovery = .now + (leavesDead ? .zero : .milliseconds(Int.random(in: 600...900)))
            }
            let (next, found) = await promote()
            pause = leavesDead ? .zero : pace.pause(until: next, found: found, using: &chance)
        }
    }

    /// Recovers jobs of dead sessions. Returns whether there are more, which must not delay the promotion of due jobs.
    private func recover() async -> Bool {
        guard await recoverOne() else { return false }
        // The calls run concurrently, because on a busy broker each of them waits behind those of the pollers.
        return await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<Self.recoveredTogether { group.addTask { await recoverOne() } }
            return await group.reduce(true) { $0 && $1 }
        }
    }

    /// Returns whether another call would immediately find more.
    private func recoverOne() async -> Bool {
        do throws(BrokerError) {
            let recovery = try await workerSession.broker.recover(on: poller.queue)
            clear("nothing recovered")
            if recovery.recovered > 0 { poller.hurry() }
            return recovery.hasMore
        } catch {
            note("nothing recovered", error)
            return false
        }
    }

    /// Promotes due jobs. Returns the time until the next job is due or the next schedule ticks, and whether something
    /// was due now.
    private func promote() async -> (next: Duration?, found: Bool) {
        do throws(BrokerError) {
            let promotion = try await workerSession.broker.promote(on: poller.queue)
            clear("nothing promoted")
            if promotion.promoted > 0 { poller.hurry() }
            let ticked = promotion.hasDueSchedules ? await tick() : nil
            let next = [promotion.nextDue, ticked].compactMap(\.self).min().map { Duration.milliseconds($0) }
            return (next, promotion.promoted > 0 || promotion.hasDueSchedules)
        } catch {
            note("nothing promoted", error)
            return (nil, false)
        }
    }

    /// Pushes the jobs of due schedules. Returns the milliseconds until the next tick of these schedules.
    private func tick() async -> Int? {
        do throws(BrokerError) {
            let round = try await Ticker(workerSession.broker, queue: poller.queue, logger: workerSession.logger).work()
            clear("no schedule ticked")
            if round.pushed > 0 { poller.hurry() }
            return round.nextDue
        } catch {
            note("no schedule ticked", error)
            return nil
        }
    }

    private func clear(_ what: String) { workerSession.failures.clear("\(what) \(poller.queue)") }

    /// Retries a failed action in a second, and logs a warning if the failure lasts. A missing permission ends the
    /// session, because a retry would not help. Nobody waits for maintenance that fails after its session.
    private func note(_ what: String, _ error: BrokerError) {
        guard !workerSession.isOver else { return }
        let lasts = workerSession.failures.note("\(what) \(poller.queue)")
        workerSession.logger.log(
            level: lasts ? .warning : .debug,
            "\(what)",
            metadata: ["job.queue": "\(poller.queue)", "error": "\(error)"]
        )
        if error.code == .notPermitted { workerSession.end(because: error) }
    }
}
