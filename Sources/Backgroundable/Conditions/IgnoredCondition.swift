public import Foundation

/// Another condition whose failure is ignored: if it does not hold, the operation is cancelled without an error.
///
/// Use it for work that is simply not needed if the condition does not hold. If the condition does not decide in time,
/// that is not ignored: the operation is cancelled with ``OperationError/conditionTimedOut(_:after:)``.
public struct IgnoredCondition<Condition: OperationCondition>: OperationCondition {
    private let condition: Condition

    /// Creates a condition that ignores the failure of `condition`.
    public init(_ condition: Condition) {
        self.condition = condition
    }

    /// The name of the other condition.
    public var name: String { condition.name }

    /// The exclusive category of the other condition.
    public var exclusiveCategory: String? { condition.exclusiveCategory }

    /// The exclusive categories of the other condition.
    public var exclusiveCategories: Set<String> { condition.exclusiveCategories }

    /// Returns the dependency of the other condition.
    public func dependency(for operation: AsyncOperation) -> Operation? {
        condition.dependency(for: operation)
    }

    /// Evaluates the other condition. Reports a failure as ignored.
    public func evaluate(
        for operation: AsyncOperation,
        completion: @escaping @Sendable (OperationConditionResult) -> Void
    ) {
        condition.evaluate(for: operation) { completion($0.isSatisfied || $0.isUndecided ? $0 : .ignored) }
    }
}
