public import Foundation

/// Whether a condition holds.
public enum OperationConditionResult: Sendable {
    /// It does.
    case satisfied
    /// It does not, and this is why.
    case failed(any Error)
    /// It does not, and that is no failure: the operation is cancelled without an error.
    case ignored
}

/// Something that must hold before an operation may run.
///
/// Conditions are evaluated once, when what the operation depends on has finished and before the operation is ready, so it
/// takes no place of its queue meanwhile. They are evaluated at once, and the first one that fails decides: the operation is
/// cancelled with its error, its closure never runs, and the operations that other conditions wait for are cancelled. They
/// are cancelled as well when the operation ends meanwhile.
public protocol OperationCondition: Sendable {
    /// What the condition is called in errors. The type's name unless said otherwise.
    var name: String { get }

    /// The category in which only one operation may run at a time; nil, unless said otherwise, if there is none.
    var exclusiveCategory: String? { get }

    /// The categories in which only one operation may run at a time: unless said otherwise ``exclusiveCategory``, if there
    /// is one.
    var exclusiveCategories: Set<String> { get }

    /// An operation that has to run before this condition can be evaluated, to make it hold; nil unless said otherwise.
    /// It is added to the operation's background queue (to `OperationQueue.background` if that is in another kind of
    /// queue), and however it ends, the condition is evaluated then, unless its result is not needed any more.
    /// Several conditions, of other operations too, may return the same one: it runs once, in the queue of the operation that
    /// asked first, and is cancelled when none of them needs it any more.
    ///
    /// One that runs, has finished, or waits in a queue or a group is only waited for, and not cancelled. It must not be added
    /// to a queue later; one that is no ``AsyncOperation`` must not be in a plain `OperationQueue` either: Foundation does not
    /// say where an operation is, and stops the process when it is added twice. (An ``AsyncOperation`` whose `isReady` was
    /// asked counts as being in a queue.) One that waits for the condition's own operation, or is that, makes the
    /// condition fail with ``OperationError/circularCondition(_:)``.
    ///
    /// If it has no timeout of its own it has that of the operation, counted from when it runs: if it has not finished by
    /// then, the condition has failed.
    func dependency(for operation: AsyncOperation) -> Operation?

    /// Decides. The completion may be called on any thread; calls after the first do nothing. If none comes within the
    /// operation's timeout the condition has failed. A condition that asks for long may add an observer to the operation, to
    /// learn that it has ended meanwhile.
    func evaluate(
        for operation: AsyncOperation,
        completion: @escaping @Sendable (OperationConditionResult) -> Void
    )
}

extension OperationCondition {
    /// The type's name.
    public var name: String { "\(Self.self)" }
    /// None.
    public var exclusiveCategory: String? { nil }
    /// ``exclusiveCategory``, if there is one.
    public var exclusiveCategories: Set<String> { exclusiveCategory.map { [$0] } ?? [] }
    /// None.
    public func dependency(for operation: AsyncOperation) -> Operation? { nil }
}

extension AsyncOperation {
    /// Adds a condition. All of an operation's conditions must hold.
    ///
    /// - Returns: False if it is too late: the operation has started or its conditions are being evaluated, which may be
    ///   as soon as it is in a queue.
    @discardableResult
    public final func addCondition(_ condition: some OperationCondition) -> Bool {
        let (attachments, facts) = attach()
        return facts.isDisjoint(with: [.claimed, .told]) && attachments.evaluation.add(condition)
    }

    /// Whether conditions still keep the operation from running. Begins their evaluation when first asked.
    final var awaitsConditions: Bool {
        guard let attachments, ending == nil else { return false }
        return attachments.evaluation.holdsBack(self)
    }

    /// What ``awaitsConditions`` is, without beginning the evaluation. Conditions that no queue has asked about yet do not
    /// count: they are evaluated when a queue looks, or at the start.
    final var mustAwaitConditions: Bool {
        guard let attachments, ending == nil else { return false }
        return attachments.evaluation.isHoldingBack(wasLookedAt: state.facts.contains(.looked))
    }

    /// Whether the start, which has been claimed, has to wait for the conditions. It goes on when they hold.
    final var startsLater: Bool {
        guard let evaluation = attachments?.evaluation else { return false }
        while awaitsConditions || !evaluation.takesTurn(hasEnded: ending != nil) {
            // Whoever makes way for it must not run its closure, least of all the timer's thread.
            if evaluation.whenSettled({ DispatchQueue.global().async { self.startClaimed() } }) { return true }
        }
        return false
    }
}
