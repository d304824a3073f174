/// Writes text as JSON strings with only the required escapes.
package enum JSONEscaping {
    /// Appends `text` as a JSON string, including quotes.
    ///
    /// It escapes `"`, `\` and the control characters U+0000 to U+001F (as `\b \f \n \r \t`, otherwise as `\u00xx` with
    /// lower-case letters). All other characters are unchanged, so the result is one line and the same for every
    /// writer.
    package static func append(_ text: String, to output: inout [UInt8]) {
        var text = text
        text.withUTF8 { bytes in append(utf8: bytes, to: &output) }
    }

    /// Appends bytes that are valid UTF-8 as a JSON string, including quotes.
    package static func append(utf8 bytes: some Collection<UInt8>, to output: inout [UInt8]) {
        output.append(UInt8(ascii: "\""))
        var plain = bytes.startIndex
        for index in bytes.indices where needsEscape(bytes[index]) {
            output.append(contentsOf: bytes[plain..<index])
            appendEscape(bytes[index], to: &output)
            plain = bytes.index(after: index)
        }
        output.append(contentsOf: bytes[plain...])
        output.append(UInt8(ascii: "\""))
    }

    private static func needsEscape(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    private static func appendEscape(_ byte: UInt8, to output: inout [UInt8]) {
        output.append(UInt8(ascii: "\\"))
        switch byte {
        case 0x08: output.append(UInt8(ascii: "b"))
        case 0x09: output.append(UInt8(ascii: "t"))
        case 0x0A: output.append(UInt8(ascii: "n"))
        case 0x0C: output.append(UInt8(ascii: "f"))
        case 0x0D: output.append(UInt8(ascii: "r"))
        case 0x00..<0x20:
            output.append(contentsOf: "u00".utf8)
            appendHex(byte, to: &output)
        default: output.append(byte)
        }
    }

    /// Appends a byte as two lower-case hexadecimal digits.
    static func appendHex(_ byte: UInt8, to output: inout [UInt8]) {
        for digit in [byte >> 4, byte & 15] {
            output.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
        }
    }
}
