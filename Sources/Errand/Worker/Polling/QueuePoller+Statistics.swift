import Logging

extension QueuePoller {
    /// Records the runs that ended since the last time in the queue's statistics. Statistics are worth neither a warning
    /// nor the session: a failure is logged for debugging.
    func recordRuns() async {
        let taken = runs.take()
        do throws(BrokerError) { try await context.broker.record(taken, on: queue) } catch {
            // Otherwise they may have been recorded, and would count twice.
            if error.code == .notReachable { runs.putBack(taken) }
            context.logger.debug("no runs recorded", metadata: ["job.queue": "\(queue)", "error": "\(error)"])
        }
    }
}

/// Decides when a worker records the runs of a queue: every five seconds if there are any, otherwise once a minute, so
/// that the queue's counts are sampled.
struct StatisticsPace {
    private static let withRuns = Duration.seconds(5)
    private static let without = Duration.seconds(60)

    private var last: ContinuousClock.Instant?

    /// Returns whether it is time, and if so begins the next pause.
    mutating func isDue(at now: ContinuousClock.Instant, hasRuns: Bool) -> Bool {
        if let last, now - last < (hasRuns ? Self.withRuns : Self.without) { return false }
        last = now
        return true
    }
}
