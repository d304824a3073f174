/// Scans a JSON text and finds the ranges of its values, without decoding them.
///
/// It conforms strictly to RFC 8259, also where many parsers are lenient: it checks UTF-8, and rejects a surrogate
/// without its partner and anything after the value. It does not recurse, so that no input can exhaust the stack, and
/// it checks every access to the bytes.
struct JSONScanner {
    let bytes: [UInt8]
    /// The position of the text in `bytes`, from which offsets in errors count.
    let start: Int
    /// The position of the next byte.
    var position: Int

    init(_ bytes: [UInt8], from start: Int = 0) {
        self.bytes = bytes
        self.start = start
        position = start
    }

    /// The next byte, or NUL at the end of the text. NUL is invalid everywhere in a JSON text, so only error messages
    /// have to distinguish the two.
    var current: UInt8 {
        position < bytes.count ? bytes[position] : 0
    }

    mutating func skipWhitespace() {
        while position < bytes.count {
            switch bytes[position] {
            case 0x20, 0x0A, 0x0D, 0x09: position += 1
            default: return
            }
        }
    }

    /// Skips `byte` if it is next.
    mutating func skip(_ byte: UInt8) -> Bool {
        guard current == byte, position < bytes.count else { return false }
        position += 1
        return true
    }

    /// Scans a value that is neither array nor object.
    mutating func scalar() throws(JSONTextError) {
        switch current {
        case UInt8(ascii: "\""): _ = try string()
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): try number()
        case UInt8(ascii: "t"): try word("true")
        case UInt8(ascii: "f"): try word("false")
        case UInt8(ascii: "n"): try word("null")
        default: throw expected("a value")
        }
    }

    private mutating func word(_ word: StaticString) throws(JSONTextError) {
        let first = position
        for index in 0..<word.utf8CodeUnitCount {
            guard skip(word.utf8Start[index]) else {
                position = first
                throw expected("a value")
            }
        }
    }

    /// Throws if anything but white space follows.
    mutating func finish() throws(JSONTextError) {
        skipWhitespace()
        guard position == bytes.count else {
            throw malformed("unexpected \(found) after the end of the value", at: position)
        }
    }

    /// Throws for a byte order mark, which would otherwise be reported as an unexpected byte.
    func refuseByteOrderMark() throws(JSONTextError) {
        guard bytes[start...].starts(with: [0xEF, 0xBB, 0xBF]) else { return }
        throw malformed("the text begins with a byte order mark; leave it out", at: start)
    }
}

extension JSONScanner {
    func malformed(_ message: String, at place: Int) -> JSONTextError {
        JSONTextError(code: .malformed, offset: place - start, message: message)
    }

    func expected(_ what: String) -> JSONTextError {
        malformed("expected \(what), found \(found)", at: position)
    }

    /// The next byte for people; never a raw control character or a part of a longer character.
    private var found: String {
        guard position < bytes.count else { return "the end of the text" }
        let byte = bytes[position]
        if (0x21...0x7E).contains(byte) { return "'\(Character(UnicodeScalar(byte)))'" }
        let digits = String(byte, radix: 16, uppercase: true)
        return "byte 0x" + (digits.count == 1 ? "0" : "") + digits
    }

    /// Returns the JSON type of the value at a position, for people.
    func kind(at place: Int) -> String {
        guard place < bytes.count else { return "nothing" }
        return switch bytes[place] {
        case UInt8(ascii: "\""): "a string"
        case UInt8(ascii: "{"): "an object"
        case UInt8(ascii: "["): "an array"
        case UInt8(ascii: "t"), UInt8(ascii: "f"): "true or false"
        case UInt8(ascii: "n"): "null"
        default: "a number"
        }
    }
}
