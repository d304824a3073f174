import Backgroundable

/// Runs asynchronous calls for threads that block until they complete.
///
/// Such a thread may be one of the few that run Swift tasks. If all of those waited for calls that only they could run,
/// they would deadlock; so these calls run on threads of their own.
enum AnsweringCalls {
    /// Makes a call and passes its result to `answer`.
    static func answer<Value: Sendable>(
        _ answer: @escaping TaskAnswer<Value>,
        _ call: @escaping @Sendable () async throws(TaskScheduler.Error) -> Value
    ) {
        Task.detached(executorPreference: BlockingExecutor.shared) {
            do throws(TaskScheduler.Error) {
                answer(.success(try await call()))
            } catch {
                answer(.failure(error))
            }
        }
    }
}
