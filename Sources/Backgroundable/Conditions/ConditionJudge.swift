import Foundation

/// Evaluates several conditions of an operation at once, until one fails or all of them hold.
final class ConditionJudge: Sendable {
    private struct State: ~Copyable {
        /// By condition.
        var isDecided: [Bool]
        var open: Int
        /// Whether nobody asks any more.
        var isOver = false
        /// By condition: the unfinished operation that makes it hold.
        var helpers: [Int: Operation] = [:]
        /// By condition: when it has to have decided.
        var deadlines: [Int: Deadline] = [:]
    }

    private let state: Locked<State>
    private let conditions: [any OperationCondition]
    /// Where what makes them hold is added.
    private let queue: BackgroundQueue
    /// Called once unless nobody asks any more: with the first result that keeps the operation from running, if there is one.
    private let completion: @Sendable (OperationConditionResult) -> Void

    init(
        _ conditions: [any OperationCondition],
        in queue: BackgroundQueue,
        _ completion: @escaping @Sendable (OperationConditionResult) -> Void
    ) {
        state = Locked(State(isDecided: Array(repeating: false, count: conditions.count), open: conditions.count))
        self.conditions = conditions
        self.queue = queue
        self.completion = completion
    }

    /// Asks every condition.
    func judge(_ operation: AsyncOperation) {
        // Each on a thread of its own: one that blocks must not keep the others from deciding.
        for index in conditions.indices {
            DispatchQueue.global().async { self.prepare(index, operation) }
        }
    }

    /// Nobody asks any more: cancels what conditions wait for.
    func abandon() {
        let (helpers, deadlines) = state.withLock { state in
            state.isOver = true
            defer {
                state.helpers = [:]
                state.deadlines = [:]
            }
            return (state.helpers.values.map { $0 }, state.deadlines.values.map { $0 })
        }
        for deadline in deadlines { deadline.cancel() }
        if !helpers.isEmpty { CancellationSweep.cancel(helpers, of: queue) }
    }

    /// Runs what the condition wants to have run before it is evaluated.
    private func prepare(_ index: Int, _ operation: AsyncOperation) {
        guard !state.withLock({ $0.isOver }) else { return }
        guard let helper = conditions[index].dependency(for: operation) else { return evaluate(index, operation) }
        let isWanted = state.withLock { state in
            guard !state.isOver else { return false }
            state.helpers[index] = helper
            return true
        }
        guard isWanted else {
            helper.cancel()
            return helper.start()
        }
        FinishWatcher.watch(helper) {
            self.state.withLock { $0.helpers[index] = nil }
            self.evaluate(index, operation)
        }
        // It belongs to the groups that the operation is in, and must not wait for them.
        if let parent = operation.parent { (helper as? AsyncOperation)?.enter(parent) }
        queue.addBeforeBarrier(helper)
    }

    private func evaluate(_ index: Int, _ operation: AsyncOperation) {
        guard !state.withLock({ $0.isOver }) else { return }
        setDeadline(index, operation.timeout)
        conditions[index].evaluate(for: operation) { self.decide(index, $0) }
    }

    private func setDeadline(_ index: Int, _ timeout: TimeInterval) {
        guard MonotonicTime.after(timeout) != nil else { return }
        let error = OperationError.conditionTimedOut(conditions[index].name, after: timeout)
        let deadline = DeadlineTimer.shared.schedule(after: .seconds(timeout)) {
            // What follows calls observers, who may take their time.
            DispatchQueue.global().async { self.decide(index, .failed(error)) }
        }
        let isWanted = state.withLock { state in
            guard !state.isOver else { return false }
            state.deadlines[index] = deadline
            return true
        }
        if !isWanted { deadline.cancel() }
    }

    private func decide(_ index: Int, _ result: OperationConditionResult) {
        let (deadline, isDecided) = state.withLock { state in
            guard !state.isOver, !state.isDecided[index] else { return (nil as Deadline?, false) }
            state.isDecided[index] = true
            state.open -= 1
            state.isOver = !result.isSatisfied || state.open == 0
            return (state.deadlines.removeValue(forKey: index), state.isOver)
        }
        deadline?.cancel()
        if isDecided { completion(result) }
    }
}
