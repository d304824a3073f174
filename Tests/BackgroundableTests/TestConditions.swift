import Foundation

@testable import Backgroundable

/// A condition that first runs an operation.
struct PreparedCondition: OperationCondition {
    let helper: Operation
    var holds = true
    let asked = Signal()

    func dependency(for operation: AsyncOperation) -> Operation? {
        asked.fire()
        return helper
    }

    func evaluate(
        for operation: AsyncOperation,
        completion: @escaping @Sendable (OperationConditionResult) -> Void
    ) {
        completion(holds ? .satisfied : .failed(Mishap("not prepared")))
    }
}

/// A condition that never decides.
struct UndecidedCondition: OperationCondition {
    let asked = Signal()

    func evaluate(
        for operation: AsyncOperation,
        completion: @escaping @Sendable (OperationConditionResult) -> Void
    ) {
        asked.fire()
    }
}
