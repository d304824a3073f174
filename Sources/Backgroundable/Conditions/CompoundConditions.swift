/// Holds if all of several conditions hold.
///
/// Each runs its own dependency and is evaluated then, all at the same time. The first one that does not hold decides, and
/// what the others wait for is cancelled. The operation has the exclusive categories of all of them.
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
    public var name: String { ConditionRule.and.name(of: conditions) }

    /// The categories of all conditions.
    public var exclusiveCategories: Set<String> { conditions.exclusiveCategories }

    /// Fails with the error of the first condition that does not hold.
    public func evaluate(
        for operation: AsyncOperation,
        completion: @escaping @Sendable (OperationConditionResult) -> Void
    ) {
        ConditionJudge.evaluate(conditions, .and, for: operation, completion)
    }
}

/// Holds if at least one of several conditions holds.
///
/// Each runs its own dependency and is evaluated then, all at the same time. The first one that holds decides, and what
/// the others wait for is cancelled.
///
/// A condition with an exclusive category is the last resort: the operation waits for the category only if all others
/// have decided and none of them holds. If several such conditions hold, the first of them counts.
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
    public var name: String { ConditionRule.or.name(of: conditions) }

    /// The categories of all conditions. The operation waits only for those of the condition that decides.
    public var exclusiveCategories: Set<String> { conditions.exclusiveCategories }

    /// Fails with ``OperationError/noConditionHolds(_:errors:)`` if none holds, or with
    /// ``OperationError/conditionTimedOut(_:after:)`` if one of these did not decide in time; is ignored if all of them are.
    public func evaluate(
        for operation: AsyncOperation,
        completion: @escaping @Sendable (OperationConditionResult) -> Void
    ) {
        ConditionJudge.evaluate(conditions, .or, for: operation, completion)
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

extension [any OperationCondition] {
    /// The categories of all of them.
    var exclusiveCategories: Set<String> {
        reduce(into: []) { $0.formUnion($1.exclusiveCategories) }
    }
}
