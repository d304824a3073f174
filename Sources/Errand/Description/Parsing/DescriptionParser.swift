/// Parses one description, from its first brace to the end of the text.
struct DescriptionParser {
    var description = OperationDescription(unchecked: "")
    var scanner: JSONScanner
    /// The known keys so far, by ``DescriptionKey/bit``.
    private var seen: UInt32 = 0

    init(_ bytes: [UInt8], from start: Int) {
        scanner = JSONScanner(bytes, from: start)
    }

    mutating func parse() throws(DescriptionError) {
        try readingText { scanner throws(JSONTextError) in
            try scanner.refuseByteOrderMark()
            scanner.skipWhitespace()
        }
        guard scanner.skip(UInt8(ascii: "{")) else { throw notAnObject() }
        try members()
        try readingText { scanner throws(JSONTextError) in try scanner.finish() }
        guard seen & DescriptionKey.operation.bit != 0 else {
            throw DescriptionError(
                .missingKey,
                field: DescriptionKey.operation.rawValue,
                "is missing; it names the operation to run"
            )
        }
    }

    /// Returns different errors for JSON that is not an object and for text that is not JSON.
    private mutating func notAnObject() -> DescriptionError {
        let first = scanner.position
        do {
            _ = try scanner.value()
        } catch {
            return DescriptionError(error)
        }
        let found = scanner.kind(at: first)
        return DescriptionError(
            .wrongType,
            offset: first - scanner.start,
            "a description is a JSON object, this is \(found)"
        )
    }

    private mutating func members() throws(DescriptionError) {
        scanner.skipWhitespace()
        if scanner.skip(UInt8(ascii: "}")) { return }
        repeat {
            scanner.skipWhitespace()
            try member()
            scanner.skipWhitespace()
        } while scanner.skip(UInt8(ascii: ","))
        guard scanner.skip(UInt8(ascii: "}")) else { throw DescriptionError(scanner.expected("',' or '}'")) }
    }

    private mutating func member() throws(DescriptionError) {
        let first = scanner.position
        let token = try readingText { scanner throws(JSONTextError) in try scanner.memberKey() }
        scanner.skipWhitespace()
        guard let key = DescriptionKey(spelled: scanner.contents(token)) else {
            return try keepMember(from: first, token)
        }
        guard seen & key.bit == 0 else {
            throw DescriptionError(
                .duplicateKey,
                field: key.rawValue,
                offset: first - scanner.start,
                "is there twice; a known key may stand only once"
            )
        }
        seen |= key.bit
        try value(of: key)
    }

    private mutating func keepMember(from first: Int, _ key: JSONStringToken) throws(DescriptionError) {
        let value = try readingText { scanner throws(JSONTextError) in try scanner.value() }
        if !description.unknownMembers.isEmpty { description.unknownMembers.append(UInt8(ascii: ",")) }
        description.unknownMembers.append(contentsOf: scanner.bytes[first...key.range.upperBound])
        description.unknownMembers.append(UInt8(ascii: ":"))
        description.unknownMembers.append(contentsOf: scanner.bytes[value])
    }

    /// Runs a step of the scanner and converts its error to one of the description.
    mutating func readingText<Result>(
        _ step: (inout JSONScanner) throws(JSONTextError) -> Result
    ) throws(DescriptionError) -> Result {
        do {
            return try step(&scanner)
        } catch {
            throw DescriptionError(error)
        }
    }
}
