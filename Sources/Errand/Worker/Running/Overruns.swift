import Synchronization

/// How many handlers run on although they were told to stop and their jobs were reported.
///
/// Their slots are open again, but each keeps a thread or a task: too many of them and the process had better be started
/// anew.
final class Overruns: Sendable {
    private let count = Atomic(0)
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    /// Notes another one.
    ///
    /// - Returns: whether there are too many now.
    func begin() -> Bool { count.add(1, ordering: .relaxed).newValue >= limit }

    /// Notes that one has returned.
    func end() { count.subtract(1, ordering: .relaxed) }
}

/// A worker that cannot go on: its handlers do not come back.
public struct WorkerStuck: Error, Sendable, CustomStringConvertible {
    /// What is stuck.
    public let description: String
    /// Whether the worker stops for it. Otherwise handlers block every thread of the task pool, and it goes on if they
    /// ever come back.
    public let endsWorker: Bool
}
