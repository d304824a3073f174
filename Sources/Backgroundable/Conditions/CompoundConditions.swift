public import Foundation

/// Holds if all of several conditions hold.
///
/// They are evaluated at the same time; the first one that does not hold decides. It has the dependencies and the exclusive
/// categories of all of them.
///
/// ```swift
/// operation.addCondition(isSignedIn.and(isOnline.or(isCached)))
/// ```
public struct AndCondition: OperationCondition {
    private let conditions: [any OperationCondition]

    /// Makes a condition of several; of none it makes one that holds.
    public init(_ conditions: [any OperationCondition]) {
        self.conditions = conditions
    }

    /// Makes a condition of several; of none it makes one that holds.
    public init(_ conditions: any OperationCondition...) {
        self.conditions = conditions
    }

    /// The conditions' names, with "and" between them.
    public var name: String { conditions.name(joinedBy: "and") }

    /// The categories of all conditions.
    public var exclusiveCategories: Set<String> { conditions.exclusiveCategories }

    /// The dependencies of all conditions.
    public func dependency(for operation: AsyncOperation) -> Operation? {
        conditions.dependency(for: operation)
    }

    /// Fails with the error of the first condition that does not hold.
    public func evaluate(
        for operation: AsyncOperation,
        completion: @escaping @Sendable (OperationConditionResult) -> Void
    ) {
        ConditionPoll.evaluate(conditions, for: operation, until: { !$0.isSatisfied }) { results in
            completion(results.first { !$0.isSatisfied } ?? .satisfied)
        }
    }
}

/// Holds if at least one of several conditions holds.
///
/// They are evaluated at the same time; the first one that holds decides. It has the dependencies and the exclusive
/// categories of all of them.
public struct OrCondition: OperationCondition {
    private let conditions: [any OperationCondition]

    /// Makes a condition of several; of none it makes one that does not hold.
    public init(_ conditions: [any OperationCondition]) {
        self.conditions = conditions
    }

    /// Makes a condition of several; of none it makes one that does not hold.
    public init(_ conditions: any OperationCondition...) {
        self.conditions = conditions
    }

    /// The conditions' names, with "or" between them.
    public var name: String { conditions.name(joinedBy: "or") }

    /// The categories of all conditions.
    public var exclusiveCategories: Set<String> { conditions.exclusiveCategories }

    /// The dependencies of all conditions.
    public func dependency(for operation: AsyncOperation) -> Operation? {
        conditions.dependency(for: operation)
    }

    /// Fails with ``OperationError/noConditionHolds(_:errors:)`` if none holds; is ignored if all of them are.
    public func evaluate(
        for operation: AsyncOperation,
        completion: @escaping @Sendable (OperationConditionResult) -> Void
    ) {
        ConditionPoll.evaluate(conditions, for: operation, until: \.isSatisfied) { results in
            guard !results.contains(where: \.isSatisfied) else { return completion(.satisfied) }
            let errors = results.compactMap(\.error)
            let areIgnored = errors.isEmpty && !results.isEmpty
            completion(areIgnored ? .ignored : .failed(OperationError.noConditionHolds(name, errors: errors)))
        }
    }
}

/// Another condition, which does not count as a failure: if it does not hold, the operation is cancelled without an error.
///
/// For work that is not needed, where the condition alone would make it fail.
public struct IgnoredCondition<Condition: OperationCondition>: OperationCondition {
    private let condition: Condition

    /// Makes `condition` no failure.
    public init(_ condition: Condition) {
        self.condition = condition
    }

    /// The other condition's name.
    public var name: String { condition.name }

    /// The other condition's category.
    public var exclusiveCategory: String? { condition.exclusiveCategory }

    /// The other condition's categories.
    public var exclusiveCategories: Set<String> { condition.exclusiveCategories }

    /// The other condition's.
    public func dependency(for operation: AsyncOperation) -> Operation? {
        condition.dependency(for: operation)
    }

    /// Evaluates the other condition. One that fails is ignored.
    public func evaluate(
        for operation: AsyncOperation,
        completion: @escaping @Sendable (OperationConditionResult) -> Void
    ) {
        condition.evaluate(for: operation) { completion($0.isSatisfied ? .satisfied : .ignored) }
    }
}

extension OperationCondition {
    /// A condition that holds if this one and `other` do.
    public func and(_ other: some OperationCondition) -> AndCondition {
        AndCondition(self, other)
    }

    /// A condition that holds if this one or `other` does.
    public func or(_ other: some OperationCondition) -> OrCondition {
        OrCondition(self, other)
    }
}

extension OperationConditionResult {
    var isSatisfied: Bool {
        if case .satisfied = self { true } else { false }
    }

    var error: (any Error)? {
        if case .failed(let error) = self { error } else { nil }
    }
}

extension [any OperationCondition] {
    fileprivate func name(joinedBy word: String) -> String {
        "(\(map(\.name).joined(separator: " \(word) ")))"
    }

    fileprivate var exclusiveCategories: Set<String> {
        reduce(into: []) { $0.formUnion($1.exclusiveCategories) }
    }

    fileprivate func dependency(for operation: AsyncOperation) -> Operation? {
        let operations = compactMap { $0.dependency(for: operation) }
        return operations.count > 1 ? GroupOperation(operations: operations) : operations.first
    }
}
