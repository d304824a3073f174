/// Two 64-bit hashes of what matters of a world, mixed independently: that two of a hundred million worlds share both is
/// out of the question.
struct Fingerprint: Hashable, Sendable {
    private(set) var high: UInt64 = 0x243F_6A88_85A3_08D3
    private(set) var low: UInt64 = 0x1319_8A2E_0370_7344

    mutating func add(_ number: Int) {
        let number = UInt64(bitPattern: Int64(number))
        high = (high ^ number) &* 0x9E37_79B9_7F4A_7C15
        high ^= high >> 32
        low = (low &+ number &+ 1) &* 0xD129_0DDB_53C4_3E49
        low ^= low >> 29
    }

    static func < (one: Self, other: Self) -> Bool { (one.high, one.low) < (other.high, other.low) }
}
