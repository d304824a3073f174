/// SHA-1, by which Redis names scripts.
package typealias SHA1 = BlockDigest<SHA1Function>

/// The rounds of SHA-1 (FIPS 180-4, 6.1).
package enum SHA1Function: DigestFunction {
    package static let initial: [UInt32] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0]
    package static let rounds = 80

    package static func word(_ index: Int, _ words: UnsafeMutableBufferPointer<UInt32>) -> UInt32 {
        (words[index - 3] ^ words[index - 8] ^ words[index - 14] ^ words[index - 16]).rotated(left: 1)
    }

    package static func compress(_ state: inout [UInt32], _ words: UnsafeMutableBufferPointer<UInt32>) {
        var (a, b, c, d, e) = (state[0], state[1], state[2], state[3], state[4])
        for round in 0..<rounds {
            let (mixed, constant): (UInt32, UInt32) =
                switch round {
                case ..<20: (b & c | ~b & d, 0x5a82_7999)
                case ..<40: (b ^ c ^ d, 0x6ed9_eba1)
                case ..<60: (b & c | b & d | c & d, 0x8f1b_bcdc)
                default: (b ^ c ^ d, 0xca62_c1d6)
                }
            let next = a.rotated(left: 5) &+ mixed &+ e &+ constant &+ words[round]
            (e, d, c, b, a) = (d, c, b.rotated(left: 30), a, next)
        }
        for (index, word) in [a, b, c, d, e].enumerated() { state[index] &+= word }
    }
}
