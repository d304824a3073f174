public import Foundation

/// The result of evaluating a condition.
public enum OperationConditionResult: Sendable {
    /// The condition holds.
    case satisfied
    /// The condition does not hold, for the given reason.
    case failed(any Error)
    /// The condition does not hold, but that is no failure: the operation is cancelled without an error.
    case ignored
}

/// A requirement for running an operation.
///
/// The conditions of an operation are evaluated once, when its dependencies have finished and before it is ready, so it
/// occupies no place in its queue meanwhile. They are evaluated at the same time. The first condition that fails
/// decides: the operation is cancelled with its error, the closure never runs, and the dependencies of the other
/// conditions are cancelled. Those are also cancelled if the operation ends meanwhile.
public protocol OperationCondition: Sendable {
    /// The name of the condition in errors. By default the name of the type.
    var name: String { get }

    /// The category of which only one operation may run at a time, or nil for none. Nil by default.
    var exclusiveCategory: String? { get }

    /// The categories of which only one operation each may run at a time. By default ``exclusiveCategory``, if there is
    /// one.
    var exclusiveCategories: Set<String> { get }

    /// Returns an operation that has to run before this condition is evaluated. Nil by default.
    ///
    /// The operation is added to the background queue of the condition's operation, or to `OperationQueue.background`
    /// if that is in another kind of queue, or in none yet when its last dependency finishes. When it has ended in any
    /// way, the condition is evaluated, unless its result is no longer needed. Several conditions, also of different
    /// operations, may return the same operation: it runs once, in the queue of the first of them, and is cancelled when
    /// no condition needs it any more.
    ///
    /// An operation that runs, has finished, or waits in a queue or a group is only waited for, and not cancelled. It
    /// must not be added to a queue later. Unless it is an ``AsyncOperation``, it must not be in a plain
    /// `OperationQueue` either: Foundation does not expose whether an operation is in a queue, and traps if it is added
    /// twice. (An ``AsyncOperation`` whose `isReady` was read counts as being in a queue.) If the returned operation is
    /// the condition's own operation or waits for it, the condition fails with
    /// ``OperationError/circularCondition(_:)``.
    ///
    /// An operation without a timeout has the timeout of the condition's operation, counted from when it runs. If it
    /// has not finished by then, the condition fails.
    func dependency(for operation: AsyncOperation) -> Operation?

    /// Evaluates the condition and calls the completion with the result.
    ///
    /// The completion may be called on any thread; calls after the first have no effect. If it is not called within the
    /// operation's timeout, the condition fails. A long evaluation may add an observer to the operation to stop when
    /// that ends.
    func evaluate(
        for operation: AsyncOperation,
        completion: @escaping @Sendable (OperationConditionResult) -> Void
    )
}

extension OperationCondition {
    /// The name of the type.
    public var name: String { "\(Self.self)" }
    /// Nil.
    public var exclusiveCategory: String? { nil }
    /// The ``exclusiveCategory``, if there is one.
    public var exclusiveCategories: Set<String> { exclusiveCategory.map { [$0] } ?? [] }
    /// Returns nil.
    public func dependency(for operation: AsyncOperation) -> Operation? { nil }
}

extension AsyncOperation {
    /// Adds a condition. All conditions of an operation must hold.
    ///
    /// - Returns: False if the operation has started or its conditions are being evaluated, which may begin as soon as
    ///   it is in a queue. The condition is then not added.
    @discardableResult
    public final func addCondition(_ condition: some OperationCondition) -> Bool {
        let (attachments, facts) = attach()
        return facts.isDisjoint(with: [.claimed, .endReported]) && attachments.evaluation.add(condition)
    }

    /// Whether conditions still keep the operation from running. The first read begins their evaluation.
    final var awaitsConditions: Bool {
        guard let attachments, ending == nil else { return false }
        return attachments.evaluation.holdsBack(self)
    }

    /// The same as ``awaitsConditions``, without beginning the evaluation. Conditions count only if a queue has found
    /// the operation waiting; others are evaluated when a queue checks the operation, or at the start.
    final var mustAwaitConditions: Bool {
        guard let attachments, ending == nil else { return false }
        return attachments.evaluation.isHoldingBack(wasLookedAt: state.facts.contains(.looked))
    }

    /// Whether a claimed start has to wait for the conditions. If so, it continues when they hold.
    final var startsLater: Bool {
        guard let evaluation = attachments?.evaluation else { return false }
        while awaitsConditions || !evaluation.takesTurn(hasEnded: ending != nil) {
            // The thread that settles the conditions, possibly the timer's, must not run the closure.
            if evaluation.whenSettled({ DispatchQueue.global().async { self.startClaimed() } }) { return true }
        }
        return false
    }
}
