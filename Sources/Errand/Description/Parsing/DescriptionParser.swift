/// Parses one description: a whole text, or an object within a text.
struct DescriptionParser {
    var description = OperationDescription(unchecked: "")
    var scanner: JSONScanner
    /// The known keys so far, by ``DescriptionKey/bit``.
    private var seen: UInt32 = 0
    /// The keys besides those of a description, if no others are allowed; `nil` if all others are kept.
    private let furtherKeys: [String]?
    /// The values of these keys.
    private(set) var further: [String: Range<Int>] = [:]

    init(_ bytes: [UInt8], from start: Int) {
        scanner = JSONScanner(bytes, from: start)
        furtherKeys = nil
    }

    /// Makes a parser for the object at the scanner's position, whose keys are all known.
    init(_ scanner: JSONScanner, furtherKeys: [String]) {
        self.scanner = scanner
        self.furtherKeys = furtherKeys
    }

    mutating func parse() throws(DescriptionError) {
        try readingText { scanner throws(JSONTextError) in
            try scanner.refuseByteOrderMark()
            scanner.skipWhitespace()
        }
        try object()
        try readingText { scanner throws(JSONTextError) in try scanner.finish() }
        try requireOperation()
    }

    /// Parses the object at the scanner's position.
    mutating func parseObject() throws(DescriptionError) {
        try object()
        try requireOperation()
    }

    private mutating func object() throws(DescriptionError) {
        guard scanner.skip(UInt8(ascii: "{")) else { throw notAnObject() }
        try members()
    }

    private func requireOperation() throws(DescriptionError) {
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
            guard let furtherKeys else { return try keepMember(from: first, token) }
            return try furtherMember(scanner.text(token), at: first - scanner.start, of: furtherKeys)
        }
        guard seen & key.bit == 0 else { throw .repeated(key.rawValue, at: first - scanner.start) }
        seen |= key.bit
        try value(of: key)
    }

    private mutating func furtherMember(
        _ key: String,
        at offset: Int,
        of known: [String]
    ) throws(DescriptionError) {
        guard known.contains(key) else {
            throw .unknown(key, at: offset, known: DescriptionKey.allCases.map(\.rawValue) + known)
        }
        let value = try readingText { scanner throws(JSONTextError) in try scanner.value() }
        guard further.updateValue(value, forKey: key) == nil else { throw .repeated(key, at: offset) }
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
