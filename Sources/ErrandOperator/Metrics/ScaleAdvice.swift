package import Errand

/// How many workers a queue wants, for whatever starts and stops workers.
///
/// The length of a queue alone says little: a thousand jobs are a second's work or a day's. So the advice goes by how fast
/// the workers finish jobs now, and by how soon what waits is to be done.
package struct ScaleAdvice: Sendable, Equatable {
    /// Jobs in line.
    package var ready: Int
    /// Those of them that some worker can run. The others wait for one that knows their operation.
    package var runnable: Int
    /// How long the oldest has been waiting, in milliseconds.
    package var oldestReadyMilliseconds: Int
    /// Jobs finished a second.
    package var finishedPerSecond: Double
    /// How long the workers that are there need for what waits, in seconds; `nil` while nothing is finished.
    package var backlogSeconds: Double?
    /// Worker sessions that serve the queue.
    package var workers: Int
    /// Worker sessions that are wanted.
    package var wanted: Int

    /// What is to be reached.
    package struct Goal: Sendable {
        /// How soon what waits is to be done.
        package var within: Duration
        /// At least so many workers.
        package var least: Int
        /// At most so many workers.
        package var most: Int

        /// Makes a goal.
        package init(within: Duration = .seconds(30), least: Int = 0, most: Int = 100) {
            self.within = max(within, .seconds(1))
            self.least = max(0, least)
            self.most = max(self.least, most)
        }
    }

    /// Advises on one queue.
    ///
    /// - Parameters:
    ///   - rates: how fast it works now.
    ///   - sessions: who serves it.
    package init(_ queue: QueueStatus, _ rates: Rates, _ sessions: [SessionStatus], _ goal: Goal) {
        let workers = sessions.count
        // Each is of this broker's own, and still far from a sum that overflows.
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
        // What is paused needs nobody for what waits, only for what runs.
        if queue.isPaused { return queue.running > 0 ? advice.workers : 0 }
        let hasWork = max(advice.runnable, queue.running, queue.retrying) > 0 || rates.pushed > 0
        // What is due later is put in line by workers: without any, it would never be. What no worker knows, a newer one
        // may, but more of the same do not help.
        guard hasWork else { return max(queue.scheduled, queue.ready) > 0 ? 1 : 0 }
        let within = goal.within / .seconds(1)
        guard advice.finishedPerSecond > 0, advice.workers > 0 else {
            // Nothing is known of how fast a worker is: one more while jobs wait for too long.
            let isLate = Double(advice.oldestReadyMilliseconds) > within * 1000
            return max(1, advice.workers + (isLate && advice.runnable > 0 ? 1 : 0))
        }
        // What the busy ones do, an idle one could do as well.
        let busy = min(Double(advice.workers), max(Double(queue.running), 1) / slotsEach)
        let perWorker = advice.finishedPerSecond / busy
        let needed = (rates.pushed + Double(advice.runnable) / within) / perWorker
        // Slowly down: a lull of ten seconds is not the end of the day.
        let floor = Double(advice.workers) * 0.5
        return Int(min(max(needed, floor, 1).rounded(.up), 1_000_000))
    }
}

extension QueueStatus {
    /// A status names no more operations of a session.
    private static let mostNamed = 500

    /// Jobs in line of operations that some worker knows. Those that were put aside for a worker that knows them count, too, once
    /// there is one.
    fileprivate func runnable(by sessions: [SessionStatus]) -> Int {
        if sessions.contains(where: { $0.operations.count >= Self.mostNamed }) { return max(0, ready) }
        let known = Set(sessions.flatMap(\.operations))
        let unknown = unknownOperations.reduce(0) { sum, parked in
            if known.contains(parked.key) { return sum }
            let (total, isTooMuch) = sum.addingReportingOverflow(max(0, parked.value))
            return isTooMuch ? .max : total
        }
        return max(0, ready) - min(max(0, ready), unknown)
    }
}
