public import Foundation

/// Another condition, which does not count as a failure: if it does not hold, the operation is cancelled without an error.
///
/// For work that is not needed, where the condition alone would make it fail. A condition that did not decide in time is not
/// ignored: the operation is cancelled with ``OperationError/conditionTimedOut(_:after:)``.
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
        condition.evaluate(for: operation) { completion($0.isSatisfied || $0.isUndecided ? $0 : .ignored) }
    }
}
