package import Errand

/// Cancels all waiting jobs of a queue: ready, scheduled, retrying, deferred and blocked ones.
///
/// It makes no selection first. While workers empty a queue, its jobs move up, and a search by position would skip
/// some.
package struct QueueClearing: Sendable {
    private let broker: any ConsoleBroker
    private let queue: String

    /// Makes the action for one queue.
    package init(of queue: String, on broker: any ConsoleBroker) {
        self.broker = broker
        self.queue = queue
    }

    /// Returns the number of jobs that wait now.
    package func count() async throws(BrokerError) -> Int {
        let status = try await broker.status(of: queue).queue
        return [status.scheduled, status.retrying, status.deferred, status.blocked].reduce(status.ready) { sum, more in
            let (total, overflow) = sum.addingReportingOverflow(more)
            return overflow ? .max : total
        }
    }

    /// Cancels the waiting jobs, a few hundred per call, until none is left.
    ///
    /// - Parameter progress: Called after each portion with the number of jobs cancelled so far.
    /// - Returns: The number of cancelled jobs.
    @discardableResult
    package func run(progress: (_ cancelled: Int) -> Void = { _ in }) async throws(BrokerError) -> Int {
        var cancelled = 0
        while case let count = try await broker.clear(queue), count > 0 {
            cancelled += count
            progress(cancelled)
        }
        return cancelled
    }
}
