/// The contents of JSON strings.
enum JSONText {
    private static let escapes: [UInt8: UInt8] = [
        UInt8(ascii: "b"): 0x08, UInt8(ascii: "f"): 0x0C, UInt8(ascii: "n"): 0x0A, UInt8(ascii: "r"): 0x0D,
        UInt8(ascii: "t"): 0x09,
    ]

    /// Returns the UTF-8 of a string with its escapes resolved.
    ///
    /// - Parameter text: A string that ``JSONSplitter`` has validated, with its quotation marks.
    static func decoded(_ text: ArraySlice<UInt8>) -> [UInt8] {
        var rest = text.dropFirst().dropLast()
        var bytes: [UInt8] = []
        bytes.reserveCapacity(rest.count)
        while let end = rest.firstIndex(of: UInt8(ascii: "\\")) {
            bytes += rest[..<end]
            rest = rest[(end + 1)...]
            appendEscape(from: &rest, to: &bytes)
        }
        return bytes + rest
    }

    /// Returns the number of four hexadecimal digits, or `nil` if the digits are invalid.
    static func codeUnit(_ digits: ArraySlice<UInt8>) -> UInt16? {
        guard digits.count == 4, digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }) else { return nil }
        return UInt16(String(decoding: digits, as: UTF8.self), radix: 16)
    }

    private static func appendEscape(from rest: inout ArraySlice<UInt8>, to bytes: inout [UInt8]) {
        guard let escaped = rest.popFirst() else { return }
        guard escaped == UInt8(ascii: "u") else {
            bytes.append(escapes[escaped] ?? escaped)
            return
        }
        var units = [takeUnit(from: &rest)]
        if UTF16.isLeadSurrogate(units[0]) {
            rest = rest.dropFirst(2)
            units.append(takeUnit(from: &rest))
        }
        bytes += Array(String(decoding: units, as: UTF16.self).utf8)
    }

    private static func takeUnit(from rest: inout ArraySlice<UInt8>) -> UInt16 {
        defer { rest = rest.dropFirst(4) }
        return codeUnit(rest.prefix(4)) ?? 0xFFFD
    }
}
