import Foundation

/// The evaluation of one condition of a judge: runs the condition's dependency, evaluates it, and reports the result
/// once.
///
/// When the condition has decided or is called off, the branch releases the condition, the operation and the
/// completion.
final class ConditionBranch: Sendable {
    private struct Work {
        let condition: any OperationCondition
        let operation: AsyncOperation
        let completion: @Sendable (ConditionRule.Outcome) -> Void
    }

    private struct State: ~Copyable {
        /// Nil once the condition has decided or was called off.
        var work: Work?
        /// The dependency that the condition returned, until that has finished.
        var named: Operation?
        /// The same dependency, once ``ConditionDependencies`` counts this condition.
        var helper: Operation?
        /// The next time limit of the condition or its dependency.
        var deadline: Deadline?
        /// The judges of the conditions that this one consists of.
        var nested: [ConditionJudge] = []
        var callOffActions: [@Sendable () -> Void] = []
    }

    private let state: Locked<State>
    /// The queue to which the condition's dependency is added.
    let queue: BackgroundQueue
    private let isSilent: Bool
    /// The operation that has the condition.
    weak let operation: AsyncOperation?

    init(
        _ condition: any OperationCondition,
        for operation: AsyncOperation,
        in queue: BackgroundQueue,
        isSilent: Bool,
        _ completion: @escaping @Sendable (ConditionRule.Outcome) -> Void
    ) {
        state = Locked(State(work: Work(condition: condition, operation: operation, completion: completion)))
        self.queue = queue
        self.isSilent = isSilent
        self.operation = operation
    }

    /// Starts the evaluation on another thread, because a condition that blocks must not delay others.
    func begin() {
        DispatchQueue.global().async { self.prepare() }
    }

    /// Runs the condition's dependency, then evaluates the condition.
    private func prepare() {
        guard let work = state.withLock({ $0.work }) else { return }
        guard !isSilent, let helper = work.condition.dependency(for: work.operation) else { return evaluate() }
        // Stored before the check, so that of two operations that wait for each other at least one sees the other.
        _ = ifOpen { $0.named = helper }
        guard !helper.waits(for: work.operation) else {
            return decide(.failed(OperationError.circularCondition(work.condition.name)))
        }
        let isNew = ConditionDependencies.shared.join(helper)
        guard ifOpen({ $0.helper = helper }) else { return turnAway(helper, isNew: isNew, work.operation) }
        FinishWatcher.watch(helper) {
            self.state.withLock { state in
                state.named = nil
                state.helper = nil
            }
            self.evaluate()
        }
        if isNew { add(helper, work.operation) }
        if !helper.hasTimeout { limit(helper) }
    }

    private func add(_ helper: Operation, _ operation: AsyncOperation) {
        // The dependency belongs to the same groups as the operation, and must not wait for their exclusive categories.
        if let parent = operation.parent { (helper as? AsyncOperation)?.enter(parent) }
        queue.addBeforeBarrier(helper)
    }

    /// Ends a dependency that is no longer needed, unless another condition waits for it.
    private func turnAway(_ helper: Operation, isNew: Bool, _ operation: AsyncOperation) {
        let isUnneeded = ConditionDependencies.shared.leave(helper)
        if isUnneeded { helper.cancel() }
        guard isNew else { return }
        if isUnneeded { helper.start() } else { add(helper, operation) }
    }

    private func evaluate() {
        guard let work = state.withLock({ $0.work }) else { return }
        let timeout = work.operation.timeout
        if MonotonicTime.after(timeout) != nil { look(after: timeout) { self.timeOut() } }
        let context = ConditionContext(branch: self, isSilent: isSilent)
        ConditionContext.$current.withValue(context) {
            work.condition.evaluate(for: work.operation) { self.decide($0) }
        }
    }

    private func decide(_ result: OperationConditionResult) {
        let (work, deadline, nested) = state.withLock { state in
            (state.work.take(), state.deadline.take(), state.nested)
        }
        deadline?.cancel()
        guard let work else { return }
        let categories = result.isSatisfied ? work.condition.exclusiveCategories.subtracting(nested.waived) : []
        work.completion(ConditionRule.Outcome(result: result, categories: categories))
        // The condition may have decided before its parts have, or because of its timeout.
        var rest = CancelledConditionWork()
        callOff(&rest)
        rest.stop(in: queue)
    }

    // MARK: Time limits

    /// Limits the running time of a dependency without a timeout to the operation's timeout. Waiting time does not
    /// count.
    ///
    /// Operations of other classes do not report when they begin, so this checks eight times within the timeout.
    private func limit(_ helper: Operation, since begun: UInt64? = nil) {
        guard let timeout = state.withLock({ $0.work?.operation.timeout }), MonotonicTime.after(timeout) != nil else {
            return
        }
        let begun = begun ?? (helper.isExecuting ? MonotonicTime.now : nil)
        let left = begun.map { timeout - TimeInterval(MonotonicTime.now - $0) / 1_000_000_000 } ?? timeout / 8
        guard left > 0 else { return timeOut() }
        look(after: left, ifWaitingFor: helper) { self.limit(helper, since: begun) }
    }

    private func timeOut() {
        guard let work = state.withLock({ $0.work }) else { return }
        decide(.failed(OperationError.conditionTimedOut(work.condition.name, after: work.operation.timeout)))
    }

    /// Calls `action` after some seconds, if the condition has not decided by then.
    ///
    /// - Parameter helper: If set, `action` is called only if the condition still waits for this dependency.
    private func look(
        after seconds: TimeInterval,
        ifWaitingFor helper: Operation? = nil,
        _ action: @escaping @Sendable () -> Void
    ) {
        let deadline = DeadlineTimer.shared.schedule(after: .seconds(seconds)) {
            // The action calls observers and operations of other classes, which may take long, so it leaves the timer's
            // thread.
            DispatchQueue.global().async(execute: action)
        }
        let superseded: Deadline? = state.withLock { state in
            guard state.work != nil, helper == nil || state.helper === helper else { return deadline }
            defer { state.deadline = deadline }
            return state.deadline
        }
        superseded?.cancel()
    }

    // MARK: Nested evaluation

    /// The operations that this condition and its nested conditions wait for.
    var helpers: [Operation] {
        let (named, nested) = state.withLock { ($0.named, $0.nested) }
        return (named.map { [$0] } ?? []) + nested.flatMap(\.helpers)
    }

    /// Adds the judge of nested conditions. Returns false if the result is no longer needed.
    ///
    /// From then on, this condition has no time limit. Each nested condition has its own, which begins when its
    /// dependency has finished.
    func adopt(_ judge: ConditionJudge) -> Bool {
        let deadline: Deadline?? = state.withLock { state in
            guard state.work != nil else { return nil }
            state.nested.append(judge)
            return .some(state.deadline.take())
        }
        deadline??.cancel()
        return deadline != nil
    }

    /// Calls `action` when the result is no longer needed, or immediately if it already is not.
    func onCallOff(_ action: @escaping @Sendable () -> Void) {
        if !ifOpen({ $0.callOffActions.append(action) }) { action() }
    }

    /// Makes the change if the result is still needed. Returns whether it is.
    private func ifOpen(_ change: (inout State) -> Void) -> Bool {
        state.withLock { state in
            guard state.work != nil else { return false }
            change(&state)
            return true
        }
    }

    /// Cancels the evaluation because its result is no longer needed. Adds the work to stop to `rest`.
    func callOff(_ rest: inout CancelledConditionWork) {
        let (work, helper, deadline, nested, actions) = state.withLock { state in
            defer {
                state.named = nil
                state.nested = []
                state.callOffActions = []
            }
            return (
                state.work.take(), state.helper.take(), state.deadline.take(), state.nested, state.callOffActions
            )
        }
        // Released outside the lock.
        withExtendedLifetime(work) {}
        deadline?.cancel()
        if let helper, ConditionDependencies.shared.leave(helper) { rest.helpers.append(helper) }
        rest.actions += actions
        for judge in nested { judge.callOff(&rest) }
    }
}

extension Operation {
    fileprivate var hasTimeout: Bool {
        (self as? AsyncOperation).map { MonotonicTime.after($0.timeout) != nil } ?? false
    }
}

extension [ConditionJudge] {
    /// The exclusive categories that the operation does not need.
    fileprivate var waived: Set<String> {
        let needed = reduce(into: Set<String>()) { $0.formUnion($1.categories) }
        return reduce(into: Set<String>()) { $0.formUnion($1.waived) }.subtracting(needed)
    }
}
