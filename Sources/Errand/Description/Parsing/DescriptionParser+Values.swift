extension DescriptionParser {
    /// Reads the value of a key into the description.
    mutating func value(of key: DescriptionKey) throws(DescriptionError) {
        switch key {
        case .version: try version()
        case .operation: description.operation = try text(key, DescriptionRules.isToken) ?? ""
        case .arguments: try arguments()
        case .queue: description.givenQueue = try text(key, DescriptionRules.isToken)
        case .name: description.name = try text(key, DescriptionRules.isName)
        case .unique: description.givenPolicy = try word(key)
        case .uniqueUntil: description.givenUniqueUntil = try word(key)
        case .window: description.windowMilliseconds = try number(key, in: DescriptionLimits.timeoutMilliseconds)
        case .atMost: description.atMostMilliseconds = try number(key, in: DescriptionLimits.timeoutMilliseconds)
        case .timeout: description.timeoutMilliseconds = try number(key, in: DescriptionLimits.timeoutMilliseconds)
        case .expires: description.expiresMilliseconds = try number(key, in: DescriptionLimits.timeoutMilliseconds)
        case .notBefore: description.notBefore = try number(key, DescriptionRules.isNotBefore)
        case .retries: description.retries = try number(key, in: DescriptionLimits.retries).map(Int.init)
        case .backoff: try backoff()
        case .priority: description.givenPriority = try number(key, in: DescriptionLimits.priority).map(Int.init)
        case .group: description.group = try text(key, DescriptionRules.isGroup)
        case .cost: description.cost = try number(key, in: DescriptionLimits.cost).map(Int.init)
        case .id: description.id = try text(key, DescriptionRules.isID)
        case .tags: try tags()
        case .meta: try meta()
        case .workflow: try workflow()
        }
    }

    /// Scans the next value. Returns `nil` if it is a `null` that is the same as a missing key.
    private mutating func valueOrNull(_ key: DescriptionKey) throws(DescriptionError) -> Range<Int>? {
        let isNull = scanner.current == UInt8(ascii: "n")
        let range: Range<Int>
        do {
            range = try scanner.value()
        } catch {
            throw DescriptionError(error, key)
        }
        return isNull && key.acceptsNull ? nil : range
    }

    private mutating func text(
        _ key: DescriptionKey,
        _ isRight: (ArraySlice<UInt8>) -> Bool
    ) throws(DescriptionError) -> String? {
        let first = scanner.position
        guard scanner.current == UInt8(ascii: "\"") else {
            guard let range = try valueOrNull(key) else { return nil }
            throw wrongType(key, range)
        }
        let token: JSONStringToken
        do {
            token = try scanner.string()
        } catch {
            throw DescriptionError(error, key)
        }
        let contents = scanner.contents(token)
        guard isRight(contents) else { throw DescriptionError(.invalidValue, key, at: first - scanner.start) }
        return String(decoding: contents, as: UTF8.self)
    }

    private mutating func number(
        _ key: DescriptionKey,
        in limits: ClosedRange<Int64>
    ) throws(DescriptionError) -> Int64? {
        try number(key) { limits.contains($0) }
    }

    private mutating func number(
        _ key: DescriptionKey,
        _ isRight: (Int64) -> Bool
    ) throws(DescriptionError) -> Int64? {
        guard let range = try valueOrNull(key) else { return nil }
        guard isNumber(range) else { throw wrongType(key, range) }
        guard let number = scanner.integer(in: range), isRight(number) else {
            throw DescriptionError(.invalidValue, key, at: range.lowerBound - scanner.start)
        }
        return number
    }

    /// Reads a text that must be one of a few words.
    private mutating func word<Word: RawRepresentable<String>>(_ key: DescriptionKey) throws(DescriptionError) -> Word?
    {
        let first = scanner.position
        guard let text = try text(key, { $0.count <= 16 }) else { return nil }
        guard let word = Word(rawValue: text) else {
            throw DescriptionError(.invalidValue, key, at: first - scanner.start)
        }
        return word
    }

    private mutating func arguments() throws(DescriptionError) {
        guard let range = try valueOrNull(.arguments) else { return }
        try description.checkSize(range.count, at: range.lowerBound - scanner.start)
        description.arguments = JSONText(unchecked: Array(scanner.bytes[range]))
    }

    private mutating func backoff() throws(DescriptionError) {
        guard let range = try valueOrNull(.backoff) else { return }
        guard scanner.bytes[range.lowerBound] == UInt8(ascii: "{") else { throw wrongType(.backoff, range) }
        _ = try BackoffMembers(scanner, at: range.lowerBound)
        description.backoffText = JSONText(unchecked: Array(scanner.bytes[range]))
    }

    private mutating func tags() throws(DescriptionError) {
        guard let range = try valueOrNull(.tags) else { return }
        guard let tags = try? JSONText(unchecked: Array(scanner.bytes[range])).decode([String].self) else {
            guard scanner.bytes[range.lowerBound] == UInt8(ascii: "[") else { throw wrongType(.tags, range) }
            throw DescriptionError(
                .wrongType,
                field: DescriptionKey.tags.rawValue,
                offset: range.lowerBound - scanner.start,
                "every tag must be text of 1 to \(DescriptionLimits.tagBytes) bytes"
            )
        }
        guard DescriptionRules.areTags(tags) else {
            throw DescriptionError(.invalidValue, .tags, at: range.lowerBound - scanner.start)
        }
        description.tags = tags
    }

    private mutating func meta() throws(DescriptionError) {
        guard let range = try valueOrNull(.meta) else { return }
        guard scanner.bytes[range.lowerBound] == UInt8(ascii: "{") else { throw wrongType(.meta, range) }
        description.metaText = JSONText(unchecked: Array(scanner.bytes[range]))
    }

    private mutating func workflow() throws(DescriptionError) {
        guard let range = try valueOrNull(.workflow) else { return }
        guard scanner.bytes[range.lowerBound] == UInt8(ascii: "{") else { throw wrongType(.workflow, range) }
        guard let membership = WorkflowMembership(JSONText(unchecked: Array(scanner.bytes[range]))) else {
            throw DescriptionError(.invalidValue, .workflow, at: range.lowerBound - scanner.start)
        }
        description.workflow = membership
    }

    private mutating func version() throws(DescriptionError) {
        guard let range = try valueOrNull(.version) else { return }
        guard isVersionOne(range) else { throw unsupportedVersion(at: range) }
    }

    func isVersionOne(_ range: Range<Int>) -> Bool {
        range.count == 1 && scanner.bytes[range.lowerBound] == UInt8(ascii: "1")
    }

    private func isNumber(_ range: Range<Int>) -> Bool {
        let first = scanner.bytes[range.lowerBound]
        return first == UInt8(ascii: "-") || isDigit(first)
    }

    private func wrongType(_ key: DescriptionKey, _ range: Range<Int>) -> DescriptionError {
        let found = scanner.kind(at: range.lowerBound)
        return DescriptionError(.wrongType, key, at: range.lowerBound - scanner.start, found: found)
    }
}
