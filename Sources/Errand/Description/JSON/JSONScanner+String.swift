/// The range of a JSON string's contents, without its quotes.
struct JSONStringToken {
    let range: Range<Int>
    /// Whether the contents have escapes, so that they are not the text itself.
    let hasEscapes: Bool
}

extension JSONScanner {
    /// Scans a string from its opening quote, and checks its UTF-8 and its escapes.
    mutating func string() throws(JSONTextError) -> JSONStringToken {
        let opening = position
        position += 1
        var hasEscapes = false
        while true {
            skipPlainCharacters()
            guard position < bytes.count else { break }
            let byte = bytes[position]
            if byte >= 0x80 {
                try multibyte()
            } else if byte == UInt8(ascii: "\"") {
                let range = opening + 1..<position
                position += 1
                return JSONStringToken(range: range, hasEscapes: hasEscapes)
            } else if byte == UInt8(ascii: "\\") {
                hasEscapes = true
                try escape()
            } else {
                throw malformed(
                    "a control character stands in a string; write it as an escape, such as \\n",
                    at: position
                )
            }
        }
        throw malformed("a string is not closed", at: opening)
    }

    /// Skips ASCII characters that need no escape, which are most of every text.
    private mutating func skipPlainCharacters() {
        let text = bytes
        var index = position
        while index < text.count {
            let byte = text[index]
            guard byte >= 0x20, byte < 0x80, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") else { break }
            index += 1
        }
        position = index
    }

    private mutating func escape() throws(JSONTextError) {
        let letter = position + 1 < bytes.count ? bytes[position + 1] : 0
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            position += 2
        case UInt8(ascii: "u"):
            try unicodeEscape()
        default:
            throw malformed("a backslash is followed by none of \" \\ / b f n r t u", at: position)
        }
    }

    private mutating func unicodeEscape() throws(JSONTextError) {
        guard let unit = hexUnit(at: position) else {
            throw malformed("\\u needs four hexadecimal digits", at: position)
        }
        switch unit {
        case 0xD800...0xDBFF:
            guard let low = hexUnit(at: position + 6), (0xDC00...0xDFFF).contains(low) else {
                throw malformed("a high surrogate is not followed by a low one", at: position)
            }
            position += 12
        case 0xDC00...0xDFFF:
            throw malformed("a low surrogate has no high one before it", at: position)
        default:
            position += 6
        }
    }

    /// Returns the UTF-16 code unit of `\uXXXX` at a position, or `nil` if there is no such escape.
    func hexUnit(at place: Int) -> UInt32? {
        guard place + 6 <= bytes.count, bytes[place] == UInt8(ascii: "\\"), bytes[place + 1] == UInt8(ascii: "u") else {
            return nil
        }
        var unit: UInt32 = 0
        for byte in bytes[place + 2..<place + 6] {
            guard let digit = Character(UnicodeScalar(byte)).hexDigitValue else { return nil }
            unit = unit << 4 | UInt32(truncatingIfNeeded: digit)
        }
        return unit
    }

    /// Scans one character of more than one byte. Only the well-formed sequences of the Unicode standard (table 3-7)
    /// are valid: no overlong form, no surrogate, nothing above U+10FFFF.
    private mutating func multibyte() throws(JSONTextError) {
        let length: Int
        var second: ClosedRange<UInt8> = 0x80...0xBF
        switch bytes[position] {
        case 0xC2...0xDF: length = 2
        case 0xE0: (length, second) = (3, 0xA0...0xBF)
        case 0xED: (length, second) = (3, 0x80...0x9F)
        case 0xE1...0xEF: length = 3
        case 0xF0: (length, second) = (4, 0x90...0xBF)
        case 0xF1...0xF3: length = 4
        case 0xF4: (length, second) = (4, 0x80...0x8F)
        default: throw notUTF8
        }
        guard position + length <= bytes.count, second.contains(bytes[position + 1]) else { throw notUTF8 }
        for index in 2..<length {
            guard (0x80...0xBF).contains(bytes[position + index]) else { throw notUTF8 }
        }
        position += length
    }

    private var notUTF8: JSONTextError {
        malformed("the bytes are not UTF-8", at: position)
    }
}
