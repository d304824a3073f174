extension JSONScanner {
    /// Returns the bytes of a string that was scanned, with escapes decoded.
    func contents(_ token: JSONStringToken) -> ArraySlice<UInt8> {
        guard token.hasEscapes else { return bytes[token.range] }
        return unescaped(token.range)[...]
    }

    /// Returns a string that was scanned, as text.
    func text(_ token: JSONStringToken) -> String {
        String(decoding: contents(token), as: UTF8.self)
    }

    private func unescaped(_ range: Range<Int>) -> [UInt8] {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(range.count)
        var place = range.lowerBound
        while place < range.upperBound {
            if bytes[place] == UInt8(ascii: "\\") {
                place += appendEscape(at: place, to: &decoded)
            } else {
                decoded.append(bytes[place])
                place += 1
            }
        }
        return decoded
    }

    /// Appends the character of an escape and returns the escape's length in bytes.
    private func appendEscape(at place: Int, to decoded: inout [UInt8]) -> Int {
        guard let unit = hexUnit(at: place) else {
            decoded.append(Self.plain(place + 1 < bytes.count ? bytes[place + 1] : 0))
            return 2
        }
        guard (0xD800...0xDBFF).contains(unit), let low = hexUnit(at: place + 6), low >= 0xDC00 else {
            Self.append(unit, to: &decoded)
            return 6
        }
        Self.append(0x10000 + ((unit & 0x3FF) << 10) + (low & 0x3FF), to: &decoded)
        return 12
    }

    private static func append(_ scalar: UInt32, to decoded: inout [UInt8]) {
        guard let scalar = UnicodeScalar(scalar) else { return }
        decoded.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
    }

    private static func plain(_ letter: UInt8) -> UInt8 {
        switch letter {
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "f"): 0x0C
        case UInt8(ascii: "n"): 0x0A
        case UInt8(ascii: "r"): 0x0D
        case UInt8(ascii: "t"): 0x09
        default: letter
        }
    }
}
