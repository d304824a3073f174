/// Parses JSON text strictly (RFC 8259) and finds the values of its outermost object.
///
/// A general decoder would convert numbers to binary fractions.
struct JSONSplitter {
    /// The maximum depth of arguments.
    private static let deepest = 64

    private let bytes: [UInt8]
    private var position = 0
    private var depth = 0

    init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Returns the ranges of the outermost object's values, or `nil` if the text is another valid JSON value.
    mutating func objectFields() throws(JSONSyntaxError) -> [[UInt8]: Range<Int>]? {
        guard String(validating: bytes, as: UTF8.self) != nil else { throw error("it is not UTF-8") }
        var fields: [[UInt8]: Range<Int>] = [:]
        skipSpace()
        let isObject = peek == UInt8(ascii: "{")
        if isObject {
            try object { fields[JSONText.decoded($0)] = $1 }
        } else {
            try value()
        }
        skipSpace()
        guard position == bytes.count else { throw error("something follows the value") }
        return isObject ? fields : nil
    }

    private var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

    private func error(_ reason: String) -> JSONSyntaxError {
        JSONSyntaxError(offset: position, reason: reason)
    }

    private mutating func skipSpace() {
        while let byte = peek, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
    }

    private mutating func take(_ scalar: Unicode.Scalar) throws(JSONSyntaxError) {
        guard peek == UInt8(ascii: scalar) else { throw error("\"\(scalar)\" is missing") }
        position += 1
    }

    private mutating func skip(_ scalar: Unicode.Scalar) -> Bool {
        guard peek == UInt8(ascii: scalar) else { return false }
        position += 1
        return true
    }

    private mutating func value() throws(JSONSyntaxError) {
        switch peek {
        case UInt8(ascii: "{"): try object { _, _ in }
        case UInt8(ascii: "["): try array()
        case UInt8(ascii: "\""): try text()
        case UInt8(ascii: "t"): try word("true")
        case UInt8(ascii: "f"): try word("false")
        case UInt8(ascii: "n"): try word("null")
        default: try number()
        }
    }

    private mutating func deeper() throws(JSONSyntaxError) {
        depth += 1
        guard depth <= Self.deepest else { throw error("it is nested deeper than \(Self.deepest) levels") }
    }

    private mutating func object(field: (ArraySlice<UInt8>, Range<Int>) -> Void) throws(JSONSyntaxError) {
        try deeper()
        try take("{")
        skipSpace()
        if !skip("}") {
            repeat { try self.field(field) } while skip(",")
            try take("}")
        }
        depth -= 1
    }

    private mutating func field(_ found: (ArraySlice<UInt8>, Range<Int>) -> Void) throws(JSONSyntaxError) {
        skipSpace()
        let nameStart = position
        try text()
        let name = bytes[nameStart..<position]
        skipSpace()
        try take(":")
        skipSpace()
        let start = position
        try value()
        found(name, start..<position)
        skipSpace()
    }

    private mutating func array() throws(JSONSyntaxError) {
        try deeper()
        try take("[")
        skipSpace()
        if !skip("]") {
            repeat {
                skipSpace()
                try value()
                skipSpace()
            } while skip(",")
            try take("]")
        }
        depth -= 1
    }

    private mutating func word(_ word: StaticString) throws(JSONSyntaxError) {
        let end = position + word.utf8CodeUnitCount
        let matches = word.withUTF8Buffer { end <= bytes.count && bytes[position..<end].elementsEqual($0) }
        guard matches else { throw error("this is not a JSON value") }
        position = end
    }

    private mutating func text() throws(JSONSyntaxError) {
        try take("\"")
        while let byte = peek {
            switch byte {
            case UInt8(ascii: "\""):
                position += 1
                return
            case UInt8(ascii: "\\"): try escape()
            case 0..<0x20: throw error("a control character in a text is not escaped")
            default: position += 1
            }
        }
        throw error("a text has no end")
    }

    private mutating func escape() throws(JSONSyntaxError) {
        position += 1
        switch peek {
        case UInt8(ascii: "u"):
            position -= 1
            try unicodeEscape()
        case let byte? where "\"\\/bfnrt".utf8.contains(byte): position += 1
        default: throw error("this escape is unknown")
        }
    }

    /// Parses `\uXXXX`, or two of them that form one character.
    private mutating func unicodeEscape() throws(JSONSyntaxError) {
        let unit = try codeUnit()
        if UTF16.isLeadSurrogate(unit) {
            guard UTF16.isTrailSurrogate(try codeUnit()) else { throw error("half a surrogate pair") }
        } else if UTF16.isTrailSurrogate(unit) {
            throw error("half a surrogate pair")
        }
    }

    private mutating func codeUnit() throws(JSONSyntaxError) -> UInt16 {
        try take("\\")
        try take("u")
        guard let unit = JSONText.codeUnit(bytes[position...].prefix(4)) else { throw error("\\u needs four digits") }
        position += 4
        return unit
    }

    private mutating func number() throws(JSONSyntaxError) {
        _ = skip("-")
        if !skip("0") { try digits() }
        if skip(".") { try digits() }
        if skip("e") || skip("E") {
            if !skip("+") { _ = skip("-") }
            try digits()
        }
    }

    private mutating func digits() throws(JSONSyntaxError) {
        let start = position
        while let byte = peek, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { position += 1 }
        guard position > start else { throw error("this is not a JSON value") }
    }
}

/// The error for a text that is not JSON, with its position.
struct JSONSyntaxError: Error, CustomStringConvertible {
    let offset: Int
    let reason: String

    var description: String { "at byte \(offset), \(reason)" }
}
