/// The context in which a condition is evaluated.
///
/// A condition that consists of others (``AndCondition``, ``NegatedCondition``, and those of other modules) calls their
/// `evaluate(for:completion:)`, which has no parameter for the context. So a task-local value carries it.
struct ConditionContext: Sendable {
    @TaskLocal static var current = ConditionContext()

    /// The branch whose condition is evaluated, or nil outside a judge.
    var branch: ConditionBranch?
    /// Whether conditions are evaluated without running their dependencies.
    var isSilent = false

    /// Returns the context of the evaluation of one of `operation`'s conditions on the calling thread.
    static func of(_ operation: AsyncOperation) -> ConditionContext {
        guard let branch = current.branch, branch.operation !== operation else { return current }
        return ConditionContext()
    }

    /// Calls `action` when the result is no longer needed, because another condition has decided or the operation has
    /// ended.
    func onCallOff(of operation: AsyncOperation, _ action: @escaping @Sendable () -> Void) {
        if let branch { return branch.onCallOff(action) }
        operation.addObserver(BlockObserver(cancelHandler: { _ in action() }, finishHandler: { _, _ in action() }))
    }
}
