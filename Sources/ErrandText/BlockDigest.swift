/// A digest that takes bytes in blocks of 64, as FIPS 180-4 defines SHA-1 and SHA-256.
///
/// Errand names scripts and jobs with digests. swift-crypto has them, too, but with it BoringSSL, which takes longer to
/// build than the rest of a program that uses Errand; what signs or checks passwords uses swift-crypto.
package struct BlockDigest<Function: DigestFunction>: Sendable {
    private var state = Function.initial
    /// The bytes of an incomplete block.
    private var pending: [UInt8] = []
    private var count: UInt64 = 0

    /// Makes a digest of nothing.
    package init() { pending.reserveCapacity(64) }

    /// Returns the digest of bytes.
    package static func hash(_ bytes: some Collection<UInt8>) -> [UInt8] {
        var digest = Self()
        digest.update(bytes)
        return digest.finish()
    }

    /// Returns the digest of bytes in lower-case hexadecimal digits.
    package static func hex(_ bytes: some Collection<UInt8>) -> String { hash(bytes).hexadecimal }

    /// Adds bytes.
    package mutating func update(_ bytes: some Collection<UInt8>) {
        // Other modules call this unspecialized: each byte of a collection would cost an allocation there.
        if bytes.withContiguousStorageIfAvailable({ add($0) }) == nil {
            Array(bytes).withUnsafeBufferPointer { add($0) }
        }
    }

    private mutating func add(_ bytes: UnsafeBufferPointer<UInt8>) {
        count &+= UInt64(bytes.count)
        for byte in bytes {
            pending.append(byte)
            if pending.count == 64 { compress() }
        }
    }

    /// Ends the message, and returns its digest.
    package consuming func finish() -> [UInt8] {
        let bits = count &* 8
        pending.append(0x80)
        if pending.count > 56 { fill(to: 64) }
        fill(to: 56)
        for shift in stride(from: 56, through: 0, by: -8) { pending.append(UInt8(truncatingIfNeeded: bits >> shift)) }
        compress()
        return state.flatMap { word in [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: word >> $0) } }
    }

    private mutating func fill(to length: Int) {
        while pending.count < length { pending.append(0) }
        if pending.count == 64 { compress() }
    }

    private mutating func compress() {
        withUnsafeTemporaryAllocation(of: UInt32.self, capacity: Function.rounds) { words in
            for index in 0..<16 {
                let start = index * 4
                words[index] =
                    UInt32(pending[start]) << 24 | UInt32(pending[start + 1]) << 16 | UInt32(pending[start + 2]) << 8
                    | UInt32(pending[start + 3])
            }
            for index in 16..<Function.rounds { words[index] = Function.word(index, words) }
            Function.compress(&state, words)
        }
        pending.removeAll(keepingCapacity: true)
    }
}

/// The part of a digest that its function defines.
package protocol DigestFunction {
    /// The state before the first block.
    static var initial: [UInt32] { get }
    /// The number of rounds of a block, and of the words that it is expanded to.
    static var rounds: Int { get }
    /// Returns word `index`, which depends on earlier ones; the first 16 are the block itself.
    static func word(_ index: Int, _ words: UnsafeMutableBufferPointer<UInt32>) -> UInt32
    /// Adds a block to the state.
    static func compress(_ state: inout [UInt32], _ words: UnsafeMutableBufferPointer<UInt32>)
}

extension [UInt8] {
    /// The bytes in lower-case hexadecimal digits.
    package var hexadecimal: String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}

extension UInt32 {
    func rotated(left count: UInt32) -> UInt32 { self << count | self >> (32 - count) }
    func rotated(right count: UInt32) -> UInt32 { self >> count | self << (32 - count) }
}
