/// Numbers fingerprints in the order in which they come: open addressing in one flat array of numbers, the fingerprints
/// in another, 20 to 24 bytes a state.
struct StateTable {
    private var fingerprints: [Fingerprint] = []
    private var slots: [UInt32]
    private static let free = UInt32.max

    init() { slots = Array(repeating: Self.free, count: 1 << 16) }

    var count: Int { fingerprints.count }

    /// The number of a state, and whether it is new.
    mutating func insert(_ fingerprint: Fingerprint) -> (number: Int, isNew: Bool) {
        if fingerprints.count * 10 > slots.count * 7 { grow() }
        let slot = find(fingerprint)
        if slots[slot] != Self.free { return (Int(slots[slot]), false) }
        slots[slot] = UInt32(truncatingIfNeeded: fingerprints.count)
        fingerprints.append(fingerprint)
        return (fingerprints.count - 1, true)
    }

    private func find(_ fingerprint: Fingerprint) -> Int {
        let mask = slots.count - 1
        var slot = Int(truncatingIfNeeded: fingerprint.high) & mask
        while slots[slot] != Self.free, fingerprints[Int(slots[slot])] != fingerprint { slot = (slot + 1) & mask }
        return slot
    }

    private mutating func grow() {
        slots = Array(repeating: Self.free, count: slots.count * 2)
        for number in fingerprints.indices {
            slots[find(fingerprints[number])] = UInt32(truncatingIfNeeded: number)
        }
    }
}
