import Foundation

/// One of the conditions that are judged: runs what the condition needs, evaluates it, and passes its verdict on, once.
///
/// When the condition has decided, or is called off, the branch lets go of everything that belongs to others.
final class ConditionBranch: Sendable {
    private struct Work {
        let condition: any OperationCondition
        let operation: AsyncOperation
        let completion: @Sendable (ConditionRule.Verdict) -> Void
    }

    private struct State: ~Copyable {
        /// Nil once the condition has decided or was called off.
        var work: Work?
        /// The operation that the condition names to make it hold, until that has finished.
        var named: Operation?
        /// The same, once ``ConditionDependencies`` counts this condition.
        var helper: Operation?
        /// When the condition, or what makes it hold, is looked at because of the time it takes.
        var deadline: Deadline?
        /// The judges of the conditions that this one is made of.
        var nested: [ConditionJudge] = []
        var callOffActions: [@Sendable () -> Void] = []
    }

    private let state: Locked<State>
    /// Where what makes the condition hold is added.
    let queue: BackgroundQueue
    private let isSilent: Bool
    /// The operation whose condition it is.
    weak let operation: AsyncOperation?

    init(
        _ condition: any OperationCondition,
        for operation: AsyncOperation,
        in queue: BackgroundQueue,
        isSilent: Bool,
        _ completion: @escaping @Sendable (ConditionRule.Verdict) -> Void
    ) {
        state = Locked(State(work: Work(condition: condition, operation: operation, completion: completion)))
        self.queue = queue
        self.isSilent = isSilent
        self.operation = operation
    }

    /// Judges the condition, on another thread: one that blocks must not keep others from deciding.
    func begin() {
        DispatchQueue.global().async { self.prepare() }
    }

    /// Runs what the condition wants to have run before it is evaluated.
    private func prepare() {
        guard let work = state.withLock({ $0.work }) else { return }
        guard !isSilent, let helper = work.condition.dependency(for: work.operation) else { return evaluate() }
        // Named first: of two that wait for each other at least one sees the other.
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
        // It belongs to the groups that the operation is in, and must not wait for them.
        if let parent = operation.parent { (helper as? AsyncOperation)?.enter(parent) }
        queue.addBeforeBarrier(helper)
    }

    /// Ends an operation that came too late, unless another condition waits for it.
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
        work.completion(ConditionRule.Verdict(result: result, categories: categories))
        // It may have decided before everything that it asked, or because its time was over.
        var rest = CancelledConditionWork()
        callOff(&rest)
        rest.stop(in: queue)
    }

    // MARK: Time

    /// Gives a helper without a timeout as long as the operation may take, from when it runs: that it waits does not count.
    ///
    /// Operations of other kinds do not say when they begin, so it is looked at eight times within that time.
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

    /// Has `action` called when so many seconds have passed and the condition is still open.
    ///
    /// - Parameter helper: Nothing is done if it has finished meanwhile.
    private func look(
        after seconds: TimeInterval,
        ifWaitingFor helper: Operation? = nil,
        _ action: @escaping @Sendable () -> Void
    ) {
        let deadline = DeadlineTimer.shared.schedule(after: .seconds(seconds)) {
            // What follows calls observers, and operations of other kinds: they may take their time.
            DispatchQueue.global().async(execute: action)
        }
        let superseded: Deadline? = state.withLock { state in
            guard state.work != nil, helper == nil || state.helper === helper else { return deadline }
            defer { state.deadline = deadline }
            return state.deadline
        }
        superseded?.cancel()
    }

    // MARK: What the evaluation starts

    /// The operations that the condition waits for, and those that it is made of.
    var helpers: [Operation] {
        let (named, nested) = state.withLock { ($0.named, $0.nested) }
        return (named.map { [$0] } ?? []) + nested.flatMap(\.helpers)
    }

    /// Takes on the judge of conditions that this one is made of. False if their result is not asked for any more.
    ///
    /// From now on this condition has no time limit of its own: each of the others has one, which begins when what it
    /// depends on has finished.
    func adopt(_ judge: ConditionJudge) -> Bool {
        let deadline: Deadline?? = state.withLock { state in
            guard state.work != nil else { return nil }
            state.nested.append(judge)
            return .some(state.deadline.take())
        }
        deadline??.cancel()
        return deadline != nil
    }

    /// Has `action` called when the result is not asked for any more.
    func onCallOff(_ action: @escaping @Sendable () -> Void) {
        if !ifOpen({ $0.callOffActions.append(action) }) { action() }
    }

    /// Returns whether the condition is still asked for; if so `change` has been made.
    private func ifOpen(_ change: (inout State) -> Void) -> Bool {
        state.withLock { state in
            guard state.work != nil else { return false }
            change(&state)
            return true
        }
    }

    /// The result is not asked for any more. Adds what has to be stopped because of that to `rest`.
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
        // Let go of outside the lock.
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
    /// The exclusive categories that are not needed.
    fileprivate var waived: Set<String> {
        let needed = reduce(into: Set<String>()) { $0.formUnion($1.categories) }
        return reduce(into: Set<String>()) { $0.formUnion($1.waived) }.subtracting(needed)
    }
}
