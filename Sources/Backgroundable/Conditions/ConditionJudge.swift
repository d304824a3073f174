import Foundation

/// Evaluates several conditions of an operation at the same time, until their rule has an outcome.
final class ConditionJudge: Sendable {
    private struct State: ~Copyable {
        var branches: [ConditionBranch] = []
        /// The results by condition. Nil means undecided.
        var outcomes: [ConditionRule.Outcome?]
        var isOver = false
        /// The exclusive categories that the operation needs, once the conditions hold.
        var categories: Set<String> = []
        /// The exclusive categories of the conditions that the operation does not need.
        var waived: Set<String> = []
    }

    private let state: Locked<State>
    private let rule: ConditionRule
    private let name: String
    private let queue: BackgroundQueue

    /// - Parameter queue: The queue to which dependencies of the conditions are added.
    init(_ rule: ConditionRule, _ conditions: [any OperationCondition], in queue: BackgroundQueue) {
        state = Locked(State(outcomes: Array(repeating: nil, count: conditions.count)))
        self.rule = rule
        name = rule.name(of: conditions)
        self.queue = queue
    }

    /// Evaluates the parts of a compound condition.
    static func evaluate(
        _ conditions: [any OperationCondition],
        _ rule: ConditionRule,
        for operation: AsyncOperation,
        _ completion: @escaping @Sendable (OperationConditionResult) -> Void
    ) {
        let context = ConditionContext.of(operation)
        let judge = ConditionJudge(rule, conditions, in: context.branch?.queue ?? .background)
        guard context.branch?.adopt(judge) ?? true else { return }
        judge.judge(conditions, for: operation, isSilent: context.isSilent, completion)
        if context.branch == nil { context.onCallOff(of: operation) { judge.callOff() } }
    }

    /// The exclusive categories that the operation needs, once the conditions hold.
    var categories: Set<String> {
        state.withLock { $0.categories }
    }

    /// The exclusive categories that the operation does not need, once the conditions hold.
    var waived: Set<String> {
        state.withLock { $0.waived }
    }

    /// Evaluates every condition.
    ///
    /// - Parameter completion: Called once, unless the conditions are called off before.
    func judge(
        _ conditions: [any OperationCondition],
        for operation: AsyncOperation,
        isSilent: Bool = false,
        _ completion: @escaping @Sendable (OperationConditionResult) -> Void
    ) {
        if let outcome = rule.outcome(of: conditions.map { _ in nil }, name: name) { return completion(outcome.result) }
        let branches = conditions.enumerated().map { index, condition in
            ConditionBranch(condition, for: operation, in: queue, isSilent: isSilent) { outcome in
                self.decide(index, outcome, among: conditions, completion)
            }
        }
        let isWanted = state.withLock { state in
            if !state.isOver { state.branches = branches }
            return !state.isOver
        }
        if isWanted { for branch in branches { branch.begin() } }
    }

    private func decide(
        _ index: Int,
        _ outcome: ConditionRule.Outcome,
        among conditions: [any OperationCondition],
        _ completion: @Sendable (OperationConditionResult) -> Void
    ) {
        let possible = outcome.result.isSatisfied ? conditions.exclusiveCategories : []
        let combined: ConditionRule.Outcome? = state.withLock { state in
            guard !state.isOver, state.outcomes[index] == nil else { return nil }
            state.outcomes[index] = outcome
            guard let combined = rule.outcome(of: state.outcomes, name: name) else { return nil }
            state.isOver = true
            state.categories = combined.categories
            state.waived = combined.result.isSatisfied ? possible.subtracting(combined.categories) : []
            return combined
        }
        guard let combined else { return }
        // The completion comes first, because calling off may take long.
        completion(combined.result)
        callOff()
    }

    /// The operations that the conditions wait for.
    var helpers: [Operation] {
        state.withLock { $0.branches }.flatMap(\.helpers)
    }

    // MARK: Calling off

    /// Cancels the evaluation because its result is no longer needed.
    func callOff() {
        var rest = CancelledConditionWork()
        callOff(&rest)
        rest.stop(in: queue)
    }

    /// Cancels the evaluation because its result is no longer needed. Adds the work to stop to `rest`.
    func callOff(_ rest: inout CancelledConditionWork) {
        let branches = state.withLock { state in
            state.isOver = true
            defer { state.branches = [] }
            return state.branches
        }
        for branch in branches { branch.callOff(&rest) }
    }
}
