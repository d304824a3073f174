import Errand

/// The slots of a cluster: each key is in one of 16,384, and each slot is on one master.
///
/// <https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/>
enum HashSlot {
    static let count = 16384

    /// Returns the slot of a key. Only the text between its first braces counts, if it has any there.
    static func of(_ key: String) -> Int {
        let bytes = Array(key.utf8)
        if let open = bytes.firstIndex(of: UInt8(ascii: "{")) {
            let tag = bytes[(open + 1)...].prefix { $0 != UInt8(ascii: "}") }
            if !tag.isEmpty, tag.endIndex < bytes.endIndex { return checksum(tag) & (count - 1) }
        }
        return checksum(bytes[...]) & (count - 1)
    }

    /// Returns the slot of all keys of a queue.
    static func of(queue: String) -> Int { checksum(Array(queue.utf8)[...]) & (count - 1) }

    /// CRC-16/XMODEM.
    private static func checksum(_ bytes: ArraySlice<UInt8>) -> Int {
        Int(bytes.reduce(UInt16(0)) { $0 << 8 ^ table[Int(UInt8(truncatingIfNeeded: $0 >> 8) ^ $1)] })
    }

    private static let table: [UInt16] = (0..<256).map { byte in
        (0..<8).reduce(UInt16(byte) << 8) { sum, _ in sum & 0x8000 == 0 ? sum << 1 : sum << 1 ^ 0x1021 }
    }
}
