/// How long launched tasks may take.
///
/// A task's expiration handler is called a fifth of its allowance before the end, and five seconds before it at the
/// most. When the allowance ends and nobody completed the task, it counts as completed without success.
public struct TaskAllowances: Sendable, Hashable {
    /// For tasks of an ``AppRefreshTaskRequest``. Zero and negative spans mean forever.
    public var refresh: Duration
    /// For tasks of a ``ProcessingTaskRequest``. Zero and negative spans mean forever.
    public var processing: Duration

    /// Makes allowances.
    public init(refresh: some TimeSpan = Duration.seconds(30), processing: some TimeSpan = Duration.seconds(600)) {
        self.refresh = refresh.duration
        self.processing = processing.duration
    }

    /// The allowance of a kind; nil for no end.
    package func allowance(of kind: TaskKind) -> Duration? {
        let allowance = kind == .refresh ? refresh : processing
        return allowance > .zero ? allowance : nil
    }

    /// How long before the end of an allowance the work is told to stop.
    static func lead(of allowance: Duration?) -> Duration {
        min(.seconds(5), allowance.map { $0 / 5 } ?? .seconds(5))
    }
}
