/// How long launched tasks may run.
///
/// A task's expiration handler is called before the end of its allowance: a fifth of the allowance, but at most five
/// seconds, before. If the task has not been completed when the allowance ends, it counts as completed without success.
public struct TaskAllowances: Sendable, Hashable {
    /// The allowance of an ``AppRefreshTaskRequest``. Zero and negative values mean no limit.
    public var refresh: Duration
    /// The allowance of a ``ProcessingTaskRequest``. Zero and negative values mean no limit.
    public var processing: Duration

    /// Creates allowances. The defaults are 30 seconds and 10 minutes.
    public init(refresh: some TimeSpan = Duration.seconds(30), processing: some TimeSpan = Duration.seconds(600)) {
        self.refresh = refresh.duration
        self.processing = processing.duration
    }

    /// Returns the allowance of a kind, or nil for no limit.
    package func allowance(of kind: TaskKind) -> Duration? {
        let allowance = kind == .refresh ? refresh : processing
        return allowance > .zero ? allowance : nil
    }

    /// Returns how long before the end of an allowance the task expires.
    static func lead(of allowance: Duration?) -> Duration {
        min(.seconds(5), allowance.map { $0 / 5 } ?? .seconds(5))
    }
}
