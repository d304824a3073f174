/// Writes the canonical form of a JSON text, which is the same for every writer of the same arguments.
///
/// Members are sorted by the UTF-8 bytes of their keys, and members with equal keys keep their order. There is no white
/// space, strings have only the required escapes, and numbers are unchanged.
struct JSONCanonicalWriter {
    private var scanner: JSONScanner
    private(set) var output: [UInt8] = []

    init(_ text: [UInt8]) {
        scanner = JSONScanner(text)
        output.reserveCapacity(text.count)
    }

    /// Writes one value. It recurses, at most as deep as a ``JSONText`` may be.
    ///
    /// - Throws: never for valid JSON.
    mutating func write() throws(JSONTextError) {
        scanner.skipWhitespace()
        switch scanner.current {
        case UInt8(ascii: "{"): try object()
        case UInt8(ascii: "["): try array()
        case UInt8(ascii: "\""): try string()
        default:
            let first = scanner.position
            try scanner.scalar()
            output.append(contentsOf: scanner.bytes[first..<scanner.position])
        }
    }

    private mutating func string() throws(JSONTextError) {
        let token = try scanner.string()
        JSONEscaping.append(utf8: scanner.contents(token), to: &output)
    }

    private mutating func array() throws(JSONTextError) {
        try items(closing: UInt8(ascii: "]")) { writer throws(JSONTextError) in try writer.write() }
    }

    private mutating func object() throws(JSONTextError) {
        var members: [Member] = []
        let first = output.count + 1
        try items(closing: UInt8(ascii: "}")) { writer throws(JSONTextError) in
            members.append(try writer.member())
        }
        guard !isSorted(members) else { return }
        members.sort { Member.areInOrder($0, $1, in: scanner) }
        reorder(members, from: first)
    }

    /// Scans a container and copies its brackets and commas; `item` copies what is between them.
    private mutating func items(
        closing: UInt8,
        item: (inout Self) throws(JSONTextError) -> Void
    ) throws(JSONTextError) {
        output.append(scanner.current)
        scanner.position += 1
        scanner.skipWhitespace()
        while !scanner.skip(closing) {
            if scanner.skip(UInt8(ascii: ",")) { output.append(UInt8(ascii: ",")) }
            try item(&self)
            scanner.skipWhitespace()
        }
        output.append(closing)
    }

    private mutating func member() throws(JSONTextError) -> Member {
        scanner.skipWhitespace()
        let key = try scanner.memberKey()
        let first = output.count
        JSONEscaping.append(utf8: scanner.contents(key), to: &output)
        output.append(UInt8(ascii: ":"))
        try write()
        return Member(key: key, written: first..<output.count)
    }

    private func isSorted(_ members: [Member]) -> Bool {
        !zip(members, members.dropFirst()).contains { !Member.areInOrder($0, $1, in: scanner) }
    }

    /// Writes an object's members again in their new order.
    private mutating func reorder(_ members: [Member], from first: Int) {
        var sorted: [UInt8] = []
        sorted.reserveCapacity(output.count - first)
        for member in members {
            if !sorted.isEmpty { sorted.append(UInt8(ascii: ",")) }
            sorted.append(contentsOf: output[member.written])
        }
        output.replaceSubrange(first..<output.count - 1, with: sorted)
    }
}

/// A member that was written: its key in the input and its range in the output.
private struct Member {
    let key: JSONStringToken
    let written: Range<Int>

    static func areInOrder(_ left: Member, _ right: Member, in scanner: JSONScanner) -> Bool {
        let (leftKey, rightKey) = (scanner.contents(left.key), scanner.contents(right.key))
        if leftKey.elementsEqual(rightKey) { return left.written.lowerBound < right.written.lowerBound }
        return leftKey.lexicographicallyPrecedes(rightKey)
    }
}
