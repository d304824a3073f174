/// How the results of several conditions become one.
enum ConditionRule: String {
    /// All of them have to hold; the first one that does not decides.
    case and
    /// One of them has to hold; the first one that does decides.
    case or

    /// What a condition decided, and the categories that the operation needs because of that.
    struct Verdict {
        let result: OperationConditionResult
        var categories: Set<String> = []

        fileprivate var isSatisfied: Bool { result.isSatisfied }
    }

    /// What several conditions are called.
    func name(of conditions: [any OperationCondition]) -> String {
        conditions.isEmpty ? "(\(rawValue))" : "(\(conditions.map(\.name).joined(separator: " \(rawValue) ")))"
    }

    /// What the verdicts come to, as soon as that is decided.
    ///
    /// - Parameters:
    ///   - verdicts: By condition; nil is open.
    ///   - name: What the conditions are called.
    func outcome(of verdicts: [Verdict?], name: String) -> Verdict? {
        if let decisive = verdicts.lazy.compactMap({ $0 }).first(where: isDecisive) { return decisive }
        let known = verdicts.compactMap { $0 }
        guard known.count == verdicts.count else { return nil }
        return self == .and ? known.allCategories : known.firstAlternative ?? known.failure(of: name)
    }

    private func isDecisive(_ verdict: Verdict) -> Bool {
        switch self {
        case .and: !verdict.isSatisfied
        // A category has to be waited for: an alternative that needs none goes before.
        case .or: verdict.isSatisfied && verdict.categories.isEmpty
        }
    }
}

extension [ConditionRule.Verdict] {
    /// All of them hold.
    fileprivate var allCategories: ConditionRule.Verdict {
        .init(result: .satisfied, categories: reduce(into: []) { $0.formUnion($1.categories) })
    }

    fileprivate var firstAlternative: ConditionRule.Verdict? {
        first(where: \.isSatisfied)
    }

    /// None of them holds.
    fileprivate func failure(of name: String) -> ConditionRule.Verdict {
        // One that would have been given more time might have held.
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

    /// Whether the condition did not decide in time: then neither the condition nor its negation holds.
    var isUndecided: Bool {
        if case .conditionTimedOut? = error as? OperationError { true } else { false }
    }

    fileprivate var error: (any Error)? {
        if case .failed(let error) = self { error } else { nil }
    }
}
