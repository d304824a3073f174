import Synchronization

/// Counts handlers that still run after they were asked to stop and their jobs were reported.
///
/// Their slots are free again, but each of them keeps a thread or a task. If there are too many, the process should be
/// restarted.
final class Overruns: Sendable {
    private let count = Atomic(0)
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    /// Counts another handler.
    ///
    /// - Returns: whether there are too many now.
    func begin() -> Bool { count.add(1, ordering: .relaxed).newValue >= limit }

    /// Notes that a handler has returned.
    func end() { count.subtract(1, ordering: .relaxed) }
}

/// The error of a worker that cannot continue, because its handlers do not return.
public struct WorkerStuck: Error, Sendable, CustomStringConvertible {
    /// A description of what is stuck.
    public let description: String
    /// Whether the worker stops. If not, handlers block every thread of the task pool, and the worker continues if they
    /// return.
    public let endsWorker: Bool
}
