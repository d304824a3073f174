import Synchronization

/// What a deadline calls when its time has come.
///
/// The call comes on the timer's own thread, which every other deadline waits for: an implementation must be quick and
/// must not block.
package protocol DeadlineTarget: AnyObject, Sendable {
    /// The deadline has passed and nobody cancelled it before.
    func deadlineReached()
}

/// One appointment with the ``DeadlineTimer``: it is reached or cancelled, whichever comes first, and never both.
///
/// It keeps its target alive until then and lets go of it at that moment, so a cancelled deadline that still stands in
/// the timer's heap weighs a few bytes and holds nothing.
package final class Deadline: Sendable {
    /// The address of the retained target, or 0 once the deadline was reached or cancelled. Whoever exchanges it owns
    /// the target.
    private let target: Atomic<UInt>

    init(target: any DeadlineTarget) {
        self.target = Atomic(UInt(bitPattern: Unmanaged.passRetained(target as AnyObject).toOpaque()))
    }

    deinit {
        cancel()
    }

    /// Whether it has been reached or cancelled.
    package var isOver: Bool {
        target.load(ordering: .relaxed) == 0
    }

    /// Calls the deadline off. Safe at any time, from any thread, any number of times; costs no lock.
    package func cancel() {
        _ = takeTarget()
    }

    /// Tells the target, unless the deadline was cancelled in the meantime.
    func reach() {
        (takeTarget() as? any DeadlineTarget)?.deadlineReached()
    }

    private func takeTarget() -> AnyObject? {
        let address = target.exchange(0, ordering: .acquiringAndReleasing)
        guard let pointer = UnsafeRawPointer(bitPattern: address) else { return nil }
        return Unmanaged<AnyObject>.fromOpaque(pointer).takeRetainedValue()
    }
}

/// A closure as a deadline's target.
final class DeadlineAction: DeadlineTarget {
    private let action: @Sendable () -> Void

    init(_ action: @escaping @Sendable () -> Void) {
        self.action = action
    }

    func deadlineReached() {
        action()
    }
}
