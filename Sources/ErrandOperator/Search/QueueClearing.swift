package import Errand

/// Cancels everything of a queue that waits: in line, for its time, to be tried again, or for the end of another job's run.
///
/// Nothing is selected first. Where workers empty a queue meanwhile, its jobs move up in their lines, and whoever goes through
/// those by position skips some.
package struct QueueClearing: Sendable {
    private let broker: any ConsoleBroker
    private let queue: String

    /// Makes the clearing of a queue.
    package init(of queue: String, on broker: any ConsoleBroker) {
        self.broker = broker
        self.queue = queue
    }

    /// How many jobs wait now.
    package func count() async throws(BrokerError) -> Int {
        let status = try await broker.status(of: queue).queue
        return [status.scheduled, status.retrying, status.deferred].reduce(status.ready) { sum, more in
            let (total, overflow) = sum.addingReportingOverflow(more)
            return overflow ? .max : total
        }
    }

    /// Cancels them, some hundreds at a time, until none is left.
    ///
    /// - Parameter progress: told after each portion how many jobs are cancelled.
    /// - Returns: how many were cancelled.
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
