import Synchronization

/// Where an operation keeps its deadline: set by one thread, taken by whichever ends the operation.
struct DeadlineSlot: ~Copyable {
    private let address = Atomic<UInt>(0)

    deinit {
        _ = take()
    }

    /// Keeps a deadline. Only for an empty slot.
    func set(_ deadline: Deadline) {
        address.store(UInt(bitPattern: Unmanaged.passRetained(deadline).toOpaque()), ordering: .releasing)
    }

    /// Takes the deadline out, if there is one.
    @inline(__always)
    func take() -> Deadline? {
        // Most operations have none.
        guard address.load(ordering: .relaxed) != 0 else { return nil }
        let taken = UnsafeRawPointer(bitPattern: address.exchange(0, ordering: .acquiringAndReleasing))
        return taken.map { Unmanaged<Deadline>.fromOpaque($0).takeRetainedValue() }
    }
}
