import Logging

/// Looks after one queue beside the poller: puts due jobs in line, lets schedules tick, takes back the jobs of dead workers, and gives back
/// what waits too long here. Every worker does it, about once a second and not at the same moment; no leader is needed.
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
            // Due jobs may come by the hundred a second; the dead do not, but all at once.
            var leavesDead = false
            if ContinuousClock.now >= recovery {
                leavesDead = await recover()
                recovery = .now + (leavesDead ? .zero : .milliseconds(Int.random(in: 600...900)))
            }
            let (next, found) = await promote()
            pause = leavesDead ? .zero : pace.pause(until: next, found: found, using: &chance)
        }
    }

    /// Takes back what dead sessions held. Answers whether there are more of them: a mass must not keep due jobs from their line.
    private func recover() async -> Bool {
        guard await recoverOne() else { return false }
        // Side by side: on a busy broker each call waits behind those of the pollers.
        return await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<Self.recoveredTogether { group.addTask { await recoverOne() } }
            return await group.reduce(true) { $0 && $1 }
        }
    }

    /// Answers whether there is more to do at once.
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

    /// Answers in how long the next job is due, or the next schedule ticks, and whether something was due now.
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

    /// Pushes what is due of the queue's schedules; answers in how many milliseconds the next of these ticks comes.
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

    /// What is missing once is tried again in a second, and is worth a warning when that lasts; what is not permitted will not be
    /// then either.
    private func note(_ what: String, _ error: BrokerError) {
        let lasts = workerSession.failures.note("\(what) \(poller.queue)")
        workerSession.logger.log(
            level: lasts ? .warning : .debug,
            "\(what)",
            metadata: ["job.queue": "\(poller.queue)", "error": "\(error)"]
        )
        if error.code == .notPermitted { workerSession.end(because: error) }
    }
}
