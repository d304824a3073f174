import Synchronization

/// An address that is set at most once.
struct AtomicAddress: ~Copyable {
    private let bits = Atomic<UInt>(0)

    func load() -> UnsafeRawPointer? {
        UnsafeRawPointer(bitPattern: bits.load(ordering: .acquiring))
    }

    /// Sets the address if there is none. Returns the previous one.
    func setOnce(_ address: UnsafeRawPointer) -> UnsafeRawPointer? {
        let (_, original) = bits.compareExchange(
            expected: 0,
            desired: UInt(bitPattern: address),
            ordering: .acquiringAndReleasing
        )
        return UnsafeRawPointer(bitPattern: original)
    }
}
