/// The rule that combines the results of several conditions.
enum ConditionRule: String {
    /// All conditions have to hold; the first one that does not hold decides.
    case and
    /// One condition has to hold; the first one that holds decides.
    case or

    /// The result of a condition, and the exclusive categories that the operation needs because of it.
    struct Outcome {
        let result: OperationConditionResult
        var categories: Set<String> = []

        fileprivate var isSatisfied: Bool { result.isSatisfied }
    }

    /// Returns the combined name of several conditions.
    func name(of conditions: [any OperationCondition]) -> String {
        conditions.isEmpty ? "(\(rawValue))" : "(\(conditions.map(\.name).joined(separator: " \(rawValue) ")))"
    }

    /// Returns the combined result, or nil while that is undecided.
    ///
    /// - Parameters:
    ///   - outcomes: The results by condition. Nil means undecided.
    ///   - name: The combined name of the conditions.
    func outcome(of outcomes: [Outcome?], name: String) -> Outcome? {
        if let decisive = outcomes.lazy.compactMap({ $0 }).first(where: isDecisive) { return decisive }
        let known = outcomes.compactMap { $0 }
        guard known.count == outcomes.count else { return nil }
        return self == .and ? known.allCategories : known.firstAlternative ?? known.failure(of: name)
    }

    private func isDecisive(_ outcome: Outcome) -> Bool {
        switch self {
        case .and: !outcome.isSatisfied
        // An alternative without a category is preferred, because a category may have to be waited for.
        case .or: outcome.isSatisfied && outcome.categories.isEmpty
        }
    }
}

extension [ConditionRule.Outcome] {
    /// The result if all conditions hold.
    fileprivate var allCategories: ConditionRule.Outcome {
        .init(result: .satisfied, categories: reduce(into: []) { $0.formUnion($1.categories) })
    }

    fileprivate var firstAlternative: ConditionRule.Outcome? {
        first(where: \.isSatisfied)
    }

    /// The result if no condition holds.
    fileprivate func failure(of name: String) -> ConditionRule.Outcome {
        // With more time, an undecided condition might hold.
        if let undecided = first(where: \.result.isUndecided) { return undecided }
        let errors = compactMap(\.result.error)
        let areIgnored = errors.isEmpty && !isEmpty
        return .init(result: areIgnored ? .ignored : .failed(OperationError.noConditionHolds(name, errors: errors)))
    }
}

extension OperationConditionResult {
    var isSatisfied: Bool {
        if case .satisfied = self { true } else { false }
    }

    /// Whether the condition did not decide in time. Then neither the condition nor its negation holds.
    var isUndecided: Bool {
        if case .conditionTimedOut? = error as? OperationError { true } else { false }
    }

    fileprivate var error: (any Error)? {
        if case .failed(let error) = self { error } else { nil }
    }
}
