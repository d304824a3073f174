import Logging

/// Maintains one queue beside its poller: promotes due jobs, lets groups run again whose rest is over, ticks schedules,
/// recovers the jobs of dead workers, and releases jobs that have waited here too long. Every worker does this about
/// once a second, at random times (``WakeUpTimes``); no leader is needed.
struct QueueMaintenance: Sendable {
    private static let recoveredTogether = 50

    private let poller: QueuePoller
    private let context: SessionContext

    init(of poller: QueuePoller) {
        self.poller = poller
        context = poller.context
    }

    func work() async {
        var (pace, chance) = (MaintenancePace(), SystemRandomNumberGenerator())
        var pause = Duration.milliseconds(Int.random(in: 20...200))
        var (recovery, recording) = (ContinuousClock.now, StatisticsPace())
        while await isDue(after: pause) {
            poller.giveBackWaiting()
            if recording.isDue(at: .now, hasRuns: !poller.runs.isEmpty) { await poller.recordRuns() }
            // Promotion may be due hundreds of times a second. Recovery is rarely needed, but then for many jobs at
            // once. Both are sent together.
            let recovers = ContinuousClock.now >= recovery
            async let leavesDead = recovers ? recover() : false
            let (next, found) = await promote()
            if recovers { recovery = .now + (await leavesDead ? .zero : .milliseconds(Int.random(in: 1_000...1_500))) }
            pause = await leavesDead ? .zero : pace.pause(until: next, found: found, using: &chance)
            // What is due sooner is looked for to the millisecond.
            if !pace.comesForDueJobs { pause = context.wakeUpTimes.pause(of: pause, at: .now) }
        }
    }

    /// Waits for the next maintenance. Returns whether the session is still alive.
    private func isDue(after pause: Duration) async -> Bool {
        await poller.maintenance.wait(for: pause)
        return !context.phase.isOver && !context.phase.isLost
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
            let recovery = try await context.broker.recover(on: poller.queue)
            clear("the jobs of lost workers cannot be recovered")
            if recovery.recovered > 0 {
                context.jobLog.recovered(recovery, in: poller.queue)
                poller.hurry()
            }
            return recovery.hasMore
        } catch {
            note("the jobs of lost workers cannot be recovered", error)
            return false
        }
    }

    /// Promotes due jobs. Returns the time until the next job is due or the next schedule ticks, and whether something
    /// was due now.
    private func promote() async -> (next: Duration?, found: Bool) {
        do throws(BrokerError) {
            let promotion = try await context.broker.promote(on: poller.queue)
            clear("due jobs cannot be made ready")
            if promotion.promoted > 0 { poller.hurry() }
            let ticked = promotion.hasDueSchedules ? await tick() : nil
            let next = [promotion.nextDue, ticked].compactMap(\.self).min().map { Duration.milliseconds($0) }
            return (next, promotion.promoted > 0 || promotion.hasDueSchedules)
        } catch {
            note("due jobs cannot be made ready", error)
            return (nil, false)
        }
    }

    /// Pushes the jobs of due schedules. Returns the milliseconds until the next tick of these schedules.
    private func tick() async -> Int? {
        do throws(BrokerError) {
            let round = try await Ticker(context.broker, queue: poller.queue, logger: context.logger).work()
            clear("schedules cannot tick")
            if round.pushed > 0 { poller.hurry() }
            return round.nextDue
        } catch {
            note("schedules cannot tick", error)
            return nil
        }
    }

    private func clear(_ what: String) { context.failures.clear("\(what) \(poller.queue)") }

    /// Retries a failed action in a second, and logs a warning if the failure lasts. A missing permission ends the
    /// session, because a retry would not help. A failure after the end of the session is ignored.
    private func note(_ what: String, _ error: BrokerError) {
        guard !context.phase.isOver else { return }
        let lasts = context.failures.note("\(what) \(poller.queue)")
        context.logger.log(
            level: lasts ? .warning : .debug,
            "\(what)",
            metadata: ["job.queue": "\(poller.queue)", "error": "\(error)"]
        )
        if error.code == .notPermitted { context.refused(because: error) }
    }
}
