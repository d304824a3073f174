package import Errand

/// The number of workers that a queue needs, for a system that starts and stops workers.
///
/// The length of a queue is not enough: a thousand jobs may take a second or a day. So the advice depends on how fast
/// the workers finish jobs now, and on how soon the waiting jobs should be done.
package struct ScaleAdvice: Sendable, Equatable {
    /// The number of ready jobs.
    package var ready: Int
    /// The number of ready jobs that a live worker can run. The others wait for a worker that has their operation.
    package var runnable: Int
    /// The time that the oldest job has been ready, in milliseconds.
    package var oldestReadyMilliseconds: Int
    /// The number of runs that end per second.
    package var finishedPerSecond: Double
    /// The time that the present workers need for the runnable jobs, in seconds; `nil` while no runs end.
    package var backlogSeconds: Double?
    /// The number of worker sessions that serve the queue.
    package var workers: Int
    /// The advised number of worker sessions.
    package var wanted: Int

    /// The goal of the advice.
    package struct Goal: Sendable {
        /// The time within which the waiting jobs should be done.
        package var within: Duration
        /// The smallest number of workers to advise.
        package var least: Int
        /// The largest number of workers to advise.
        package var most: Int

        /// Makes a goal. `within` is at least one second, and `most` at least `least`.
        package init(within: Duration = .seconds(30), least: Int = 0, most: Int = 100) {
            self.within = max(within, .seconds(1))
            self.least = max(0, least)
            self.most = max(self.least, most)
        }
    }

    /// Computes the advice for one queue.
    ///
    /// - Parameters:
    ///   - rates: The queue's present rates.
    ///   - sessions: The sessions that serve the queue.
    package init(_ queue: QueueStatus, _ rates: Rates, _ sessions: [SessionStatus], _ goal: Goal) {
        let workers = sessions.count
        // The limit for each session keeps the sum far from an overflow.
        let slots = sessions.reduce(0) { $0 + min($1.concurrency, 1_000_000) }
        ready = queue.ready
        runnable = queue.runnable(by: sessions)
        oldestReadyMilliseconds = queue.oldestReadyMilliseconds
        finishedPerSecond = rates.finished + rates.failed
        self.workers = workers
        backlogSeconds = finishedPerSecond > 0 ? Double(runnable) / finishedPerSecond : runnable == 0 ? 0 : nil
        wanted = workers
        let slotsEach = workers > 0 ? max(1, Double(slots) / Double(workers)) : 1
        wanted = min(max(Self.wanted(self, rates, queue, slotsEach, goal), goal.least), goal.most)
    }

    private static func wanted(
        _ advice: ScaleAdvice,
        _ rates: Rates,
        _ queue: QueueStatus,
        _ slotsEach: Double,
        _ goal: Goal
    ) -> Int {
        // A paused queue needs workers only for its running jobs.
        if queue.isPaused { return queue.running > 0 ? advice.workers : 0 }
        let hasWork = max(advice.runnable, queue.running, queue.retrying) > 0 || rates.pushed > 0
        // Workers promote scheduled jobs, so one must run. A newer worker may have an unknown operation, but more
        // workers of the same kind do not help.
        guard hasWork else { return max(queue.scheduled, queue.ready) > 0 ? 1 : 0 }
        let within = goal.within / .seconds(1)
        guard advice.finishedPerSecond > 0, advice.workers > 0 else {
            // The speed of a worker is not known yet: add one while jobs wait for too long.
            let isLate = Double(advice.oldestReadyMilliseconds) > within * 1000
            return max(1, advice.workers + (isLate && advice.runnable > 0 ? 1 : 0))
        }
        // Idle workers could be as fast as the busy ones.
        let busy = min(Double(advice.workers), max(Double(queue.running), 1) / slotsEach)
        let perWorker = advice.finishedPerSecond / busy
        let needed = (rates.pushed + Double(advice.runnable) / within) / perWorker
        // Scale down slowly: a lull of ten seconds says little about the next minute.
        let floor = Double(advice.workers) * 0.5
        return Int(min(max(needed, floor, 1).rounded(.up), 1_000_000))
    }
}

extension QueueStatus {
    /// The limit of operations in a session's status.
    private static let mostNamed = 500

    /// Counts the ready jobs whose operation a live worker has, including those that became unroutable before it
    /// registered.
    fileprivate func runnable(by sessions: [SessionStatus]) -> Int {
        if sessions.contains(where: { $0.operations.count >= Self.mostNamed }) { return max(0, ready) }
        let known = Set(sessions.flatMap(\.operations))
        let unknown = unknownOperations.reduce(0) { sum, unroutable in
            if known.contains(unroutable.key) { return sum }
            let (total, isTooMuch) = sum.addingReportingOverflow(max(0, unroutable.value))
            return isTooMuch ? .max : total
        }
        return max(0, ready) - min(max(0, ready), unknown)
    }
}
