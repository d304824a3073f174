import Backgroundable

/// Runs asynchronous calls for threads that wait for their answer.
///
/// Such a thread may be one of the few that run Swift's tasks. If all of those waited for calls that only they could
/// run, none would ever end; so these calls run on threads of their own.
enum AnsweringCalls {
    /// Makes a call and hands its answer on.
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
