import Foundation

/// Evaluates several conditions of an operation at once and gathers the errors.
final class ConditionJudge: Sendable {
    private struct State: ~Copyable {
        /// By condition; nil is open.
        var results: [OperationConditionResult?]
        var open: Int
    }

    private let state: Locked<State>
    private let completion: @Sendable ([any Error]) -> Void

    private init(count: Int, _ completion: @escaping @Sendable ([any Error]) -> Void) {
        state = Locked(State(results: Array(repeating: nil, count: count), open: count))
        self.completion = completion
    }

    /// Calls `completion` once, when every condition has decided, with the errors in the conditions' order.
    static func judge(
        _ conditions: [any OperationCondition],
        for operation: AsyncOperation,
        _ completion: @escaping @Sendable ([any Error]) -> Void
    ) {
        let judge = ConditionJudge(count: conditions.count, completion)
        guard conditions.count > 1 else {
            for condition in conditions { judge.prepare(condition, 0, operation) }
            return
        }
        // Each on a thread of its own: one that blocks must not keep the others from deciding, nor from failing in time.
        for (index, condition) in conditions.enumerated() {
            DispatchQueue.global().async { judge.prepare(condition, index, operation) }
        }
    }

    /// Runs what the condition wants to have run before it is evaluated.
    private func prepare(_ condition: any OperationCondition, _ index: Int, _ operation: AsyncOperation) {
        // Nobody asks any more.
        guard operation.ending == nil else { return decide(index, .satisfied) }
        guard let first = condition.dependency(for: operation) else { return evaluate(condition, index, operation) }
        FinishWatcher.watch(first) { self.evaluate(condition, index, operation) }
        // It belongs to the groups that the operation is in, and must not wait for them.
        if let parent = operation.parent { (first as? AsyncOperation)?.enter(parent) }
        (operation.membership?.queue ?? OperationQueue.background).addBeforeBarrier(first)
    }

    private func evaluate(_ condition: any OperationCondition, _ index: Int, _ operation: AsyncOperation) {
        let timeout = operation.timeout
        let deadline = MonotonicTime.after(timeout).map { _ in
            DeadlineTimer.shared.schedule(after: .seconds(timeout)) {
                let error = OperationError.conditionTimedOut(condition.name, after: timeout)
                // What follows calls observers, who may take their time.
                DispatchQueue.global().async { self.decide(index, .failed(error)) }
            }
        }
        condition.evaluate(for: operation) { result in
            deadline?.cancel()
            self.decide(index, result)
        }
    }

    private func decide(_ index: Int, _ result: OperationConditionResult) {
        let results: [OperationConditionResult?]? = state.withLock { state in
            guard state.results[index] == nil else { return nil }
            state.results[index] = result
            state.open -= 1
            return state.open == 0 ? state.results : nil
        }
        guard let results else { return }
        completion(
            results.compactMap { result in
                if case .failed(let error) = result { error } else { nil }
            }
        )
    }
}
