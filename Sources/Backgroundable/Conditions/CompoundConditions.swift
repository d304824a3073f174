/// A condition that holds if all of several conditions hold.
///
/// Each condition first runs its own dependency; all of them are evaluated at the same time. The first condition that
/// does not hold decides, and the dependencies of the others are cancelled. The operation has the exclusive categories
/// of all conditions.
///
/// ```swift
/// operation.addCondition(isSignedIn.and(isOnline.or(isCached)))
/// ```
public struct AndCondition: OperationCondition {
    private let conditions: [any OperationCondition]

    /// Creates a condition from several others. If there are none, the condition always holds.
    public init(_ conditions: [any OperationCondition]) {
        self.conditions = conditions
    }

    /// Creates a condition from several others. If there are none, the condition always holds.
    public init(_ conditions: any OperationCondition...) {
        self.conditions = conditions
    }

    /// The names of the conditions, joined by "and".
    public var name: String { ConditionRule.and.name(of: conditions) }

    /// The exclusive categories of all conditions.
    public var exclusiveCategories: Set<String> { conditions.exclusiveCategories }

    /// Evaluates the conditions. Fails with the error of the first one that does not hold.
    public func evaluate(
        for operation: AsyncOperation,
        completion: @escaping @Sendable (OperationConditionResult) -> Void
    ) {
        ConditionJudge.evaluate(conditions, .and, for: operation, completion)
    }
}

/// A condition that holds if at least one of several conditions holds.
///
/// Each condition first runs its own dependency; all of them are evaluated at the same time. The first condition that
/// holds decides, and the dependencies of the others are cancelled.
///
/// A condition with an exclusive category is used last: the operation waits for the category only if all others have
/// decided and none of them holds. If several such conditions hold, the first of them in the list is used.
public struct OrCondition: OperationCondition {
    private let conditions: [any OperationCondition]

    /// Creates a condition from several others. Without any it never holds.
    public init(_ conditions: [any OperationCondition]) {
        self.conditions = conditions
    }

    /// Creates a condition from several others. Without any it never holds.
    public init(_ conditions: any OperationCondition...) {
        self.conditions = conditions
    }

    /// The names of the conditions, joined by "or".
    public var name: String { ConditionRule.or.name(of: conditions) }

    /// The exclusive categories of all conditions. The operation waits only for those of the condition that decides.
    public var exclusiveCategories: Set<String> { conditions.exclusiveCategories }

    /// Evaluates the conditions.
    ///
    /// Fails with ``OperationError/noConditionHolds(_:errors:)`` if none holds, or with
    /// ``OperationError/conditionTimedOut(_:after:)`` if none holds and one did not decide in time. The result is
    /// ignored if the results of all conditions are.
    public func evaluate(
        for operation: AsyncOperation,
        completion: @escaping @Sendable (OperationConditionResult) -> Void
    ) {
        ConditionJudge.evaluate(conditions, .or, for: operation, completion)
    }
}

extension OperationCondition {
    /// Returns a condition that holds if this one and `other` hold.
    public func and(_ other: some OperationCondition) -> AndCondition {
        AndCondition(self, other)
    }

    /// Returns a condition that holds if this one or `other` holds.
    public func or(_ other: some OperationCondition) -> OrCondition {
        OrCondition(self, other)
    }
}

extension [any OperationCondition] {
    /// The exclusive categories of all conditions.
    var exclusiveCategories: Set<String> {
        reduce(into: []) { $0.formUnion($1.exclusiveCategories) }
    }
}
