/// What the evaluation of a condition is part of.
///
/// Conditions that are made of others (``AndCondition``, ``NegatedCondition``, and those of other modules) call
/// `evaluate(for:completion:)` of these, which knows nothing of what is around it. So that is kept beside the call.
struct ConditionContext: Sendable {
    @TaskLocal static var current = ConditionContext()

    /// The branch whose condition is evaluated; nil outside of a judgement.
    var branch: ConditionBranch?
    /// Whether conditions are evaluated without running their dependencies.
    var isSilent = false

    /// What the calling thread's evaluation of one of `operation`'s conditions is part of.
    static func of(_ operation: AsyncOperation) -> ConditionContext {
        guard let branch = current.branch, branch.operation !== operation else { return current }
        return ConditionContext()
    }

    /// Has `action` called when the result is not asked for any more: when another condition has decided, or the operation
    /// has ended.
    func onCallOff(of operation: AsyncOperation, _ action: @escaping @Sendable () -> Void) {
        if let branch { return branch.onCallOff(action) }
        operation.addObserver(BlockObserver(cancelHandler: { _ in action() }, finishHandler: { _, _ in action() }))
    }
}
