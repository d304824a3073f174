import Dispatch

/// Runs parts of Swift tasks on threads of its own, which they may block.
///
/// The default pool has one thread for each core: a call that blocks one of them delays other tasks, and blocking calls
/// that wait for each other there deadlock. A part that runs here keeps its task-local values.
final class BlockingExecutor: TaskExecutor {
    static let shared = BlockingExecutor()

    private let queue = DispatchQueue(label: "errand.blocking", attributes: .concurrent)

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }

    /// Runs a closure that may block its thread on a thread of this executor.
    static func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withTaskExecutorPreference(shared) { try await runHere(body) }
    }

    @concurrent private static func runHere<Value: Sendable>(_ body: @Sendable () throws -> Value) async throws -> Value
    {
        try body()
    }
}
