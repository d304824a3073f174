import Synchronization

/// The object that a deadline calls when it is reached.
///
/// The call comes on the timer's thread, which all other deadlines wait for. An implementation must be quick and must
/// not block.
package protocol DeadlineTarget: AnyObject, Sendable {
    /// Called when the deadline has passed without being cancelled.
    func deadlineReached()
}

/// A deadline of a ``DeadlineTimer``. It is either reached or cancelled, never both.
///
/// It retains its target until then. A cancelled deadline that is still in the timer's heap therefore takes a few bytes
/// and keeps no other object alive.
package final class Deadline: Sendable {
    /// The address of the retained target, or 0 once the deadline was reached or cancelled. The thread that exchanges
    /// it owns the target.
    private let target: Atomic<UInt>

    init(target: any DeadlineTarget) {
        self.target = Atomic(UInt(bitPattern: Unmanaged.passRetained(target as AnyObject).toOpaque()))
    }

    deinit {
        cancel()
    }

    /// Whether the deadline was reached or cancelled.
    package var isOver: Bool {
        target.load(ordering: .relaxed) == 0
    }

    /// Cancels the deadline. Can be called at any time, on any thread and repeatedly. Takes no lock.
    package func cancel() {
        _ = takeTarget()
    }

    /// Calls the target, unless the deadline was cancelled.
    func reach() {
        (takeTarget() as? any DeadlineTarget)?.deadlineReached()
    }

    private func takeTarget() -> AnyObject? {
        let address = target.exchange(0, ordering: .acquiringAndReleasing)
        guard let pointer = UnsafeRawPointer(bitPattern: address) else { return nil }
        return Unmanaged<AnyObject>.fromOpaque(pointer).takeRetainedValue()
    }
}

/// A deadline target that calls a closure.
final class DeadlineAction: DeadlineTarget {
    private let action: @Sendable () -> Void

    init(_ action: @escaping @Sendable () -> Void) {
        self.action = action
    }

    func deadlineReached() {
        action()
    }
}
