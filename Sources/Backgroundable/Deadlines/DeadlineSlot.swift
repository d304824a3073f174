import Synchronization

/// Stores an operation's deadline: one thread sets it, and the thread that ends the operation takes it.
struct DeadlineSlot: ~Copyable {
    private let address = Atomic<UInt>(0)

    deinit {
        _ = take()
    }

    /// Stores a deadline. The slot must be empty.
    func set(_ deadline: Deadline) {
        address.store(UInt(bitPattern: Unmanaged.passRetained(deadline).toOpaque()), ordering: .releasing)
    }

    /// Takes the deadline out of the slot, or returns nil.
    @inline(__always)
    func take() -> Deadline? {
        // Most operations have no deadline.
        guard address.load(ordering: .relaxed) != 0 else { return nil }
        let taken = UnsafeRawPointer(bitPattern: address.exchange(0, ordering: .acquiringAndReleasing))
        return taken.map { Unmanaged<Deadline>.fromOpaque($0).takeRetainedValue() }
    }
}
