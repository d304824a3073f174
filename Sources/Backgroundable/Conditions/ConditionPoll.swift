import Foundation

/// Evaluates several conditions at once, until one of them decides or all of them have.
final class ConditionPoll: Sendable {
    private struct State: ~Copyable {
        /// By condition; nil is open.
        var results: [OperationConditionResult?]
        var isOver = false
    }

    private let state: Locked<State>
    private let isDecisive: @Sendable (OperationConditionResult) -> Bool
    private let completion: @Sendable ([OperationConditionResult]) -> Void

    private init(
        count: Int,
        isDecisive: @escaping @Sendable (OperationConditionResult) -> Bool,
        completion: @escaping @Sendable ([OperationConditionResult]) -> Void
    ) {
        state = Locked(State(results: Array(repeating: nil, count: count)))
        self.isDecisive = isDecisive
        self.completion = completion
    }

    /// Calls `completion` once with what is known: when a result is decisive, or when there are all.
    static func evaluate(
        _ conditions: [any OperationCondition],
        for operation: AsyncOperation,
        until isDecisive: @escaping @Sendable (OperationConditionResult) -> Bool,
        completion: @escaping @Sendable ([OperationConditionResult]) -> Void
    ) {
        guard !conditions.isEmpty else { return completion([]) }
        let poll = ConditionPoll(count: conditions.count, isDecisive: isDecisive, completion: completion)
        // Each on a thread of its own: one that blocks must not keep the others from deciding.
        for (index, condition) in conditions.enumerated() {
            DispatchQueue.global().async {
                condition.evaluate(for: operation) { poll.note($0, of: index) }
            }
        }
    }

    private func note(_ result: OperationConditionResult, of index: Int) {
        let known: [OperationConditionResult]? = state.withLock { state in
            guard !state.isOver, state.results[index] == nil else { return nil }
            state.results[index] = result
            state.isOver = isDecisive(result) || !state.results.contains { $0 == nil }
            return state.isOver ? state.results.compactMap { $0 } : nil
        }
        if let known { completion(known) }
    }
}
