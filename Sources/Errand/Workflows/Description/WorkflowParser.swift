/// Parses the JSON text of a workflow. Every key must be known and occur once, so that no mistake goes unnoticed.
struct WorkflowParser {
    private var scanner: JSONScanner
    private var name: String?
    private var queue: String?
    private var policy = UniquenessPolicy.ignore
    private var onDead = DeadMemberPolicy.hold
    private var jobs: [WorkflowDescription.Job] = []
    private var callbacks: [WorkflowKey: OperationDescription] = [:]
    private var hasJobs = false

    /// The maximum size of a text in bytes: 128 MiB.
    static let mostBytes = 134_217_728

    init(_ bytes: [UInt8]) { scanner = JSONScanner(bytes) }

    mutating func parse() throws(WorkflowError) -> WorkflowDescription {
        try scanning([]) { scanner throws(JSONTextError) in
            try scanner.refuseByteOrderMark()
            scanner.skipWhitespace()
        }
        guard scanner.current == UInt8(ascii: "{") else {
            throw wrongType([], "a JSON object with \"workflow\" and \"jobs\"")
        }
        try eachMember([]) { parser, key, offset throws(WorkflowError) in try parser.member(key, at: offset) }
        try scanning([]) { scanner throws(JSONTextError) in try scanner.finish() }
        guard let name else { throw missing(.workflow) }
        guard hasJobs else { throw missing(.jobs) }
        return try WorkflowDescription(
            name,
            queue: queue,
            unique: policy,
            onDead: onDead,
            jobs: jobs,
            onSuccess: callbacks[.onSuccess],
            onFailure: callbacks[.onFailure]
        )
    }

    private func missing(_ key: WorkflowKey) -> WorkflowError {
        WorkflowError(.missingKey, [key.rawValue], "is missing; it must be \(key.rule)")
    }

    private mutating func member(_ text: String, at offset: Int) throws(WorkflowError) {
        guard let key = WorkflowKey(rawValue: text) else {
            throw WorkflowError(.unknown(text, at: offset, known: WorkflowKey.allCases.map(\.rawValue)), in: [])
        }
        switch key {
        case .version: try version()
        case .workflow: name = try self.text(key)
        case .queue: queue = try self.text(key)
        case .unique: policy = try policy(key)
        case .onDead: onDead = try word([key.rawValue]) ?? .hold
        case .jobs: try jobs(key)
        case .onSuccess, .onFailure: callbacks[key] = try callback(key)
        }
    }

    private mutating func version() throws(WorkflowError) {
        let range = try value([WorkflowKey.version.rawValue])
        guard scanner.bytes[range].elementsEqual([UInt8(ascii: "1")]) else {
            let message = "must be \(WorkflowKey.version.rule); if a newer producer wrote this, update this program"
            throw WorkflowError(.unsupportedVersion, [WorkflowKey.version.rawValue], at: range.lowerBound, message)
        }
    }

    private mutating func policy(_ key: WorkflowKey) throws(WorkflowError) -> UniquenessPolicy {
        let offset = scanner.position
        guard let text = try text(key) else { return .ignore }
        guard let policy = UniquenessPolicy(rawValue: text), [.drop, .replace].contains(policy) else {
            throw WorkflowError(.invalidValue, [key.rawValue], at: offset, "must be \(key.rule)")
        }
        return policy
    }

    private mutating func text(_ key: WorkflowKey) throws(WorkflowError) -> String? {
        try text([key.rawValue], rule: key.rule)
    }

    private mutating func word<Word: RawRepresentable<String> & CaseIterable>(
        _ place: [String]
    ) throws(WorkflowError) -> Word? {
        let offset = scanner.position
        guard let text = try text(place, rule: Word.words) else { return nil }
        guard let word = Word(rawValue: text) else {
            throw WorkflowError(.invalidValue, place, at: offset, "must be \(Word.words)")
        }
        return word
    }

    private mutating func callback(_ key: WorkflowKey) throws(WorkflowError) -> OperationDescription? {
        guard scanner.current != UInt8(ascii: "n") else { return try null([key.rawValue]) }
        return try description([key.rawValue], furtherKeys: []).description
    }
}

// MARK: - Jobs

extension WorkflowParser {
    private mutating func jobs(_ key: WorkflowKey) throws(WorkflowError) {
        hasJobs = true
        guard scanner.current == UInt8(ascii: "{") else { throw wrongType([key.rawValue], key.rule) }
        try eachMember([key.rawValue]) { parser, key, offset throws(WorkflowError) in try parser.job(key, at: offset) }
    }

    private mutating func job(_ key: String, at offset: Int) throws(WorkflowError) {
        guard WorkflowLimits.isKey(key) else { throw .badKey(key, at: offset) }
        let place = [WorkflowKey.jobs.rawValue, key]
        let parsed = try description(place, furtherKeys: [WorkflowKey.after, WorkflowKey.when])
        let end = scanner.position
        defer { scanner.position = end }
        var after: [String] = []
        var when = WorkflowCondition.success
        if let range = parsed.further[WorkflowKey.after] {
            scanner.position = range.lowerBound
            after = try needs(place + [WorkflowKey.after])
        }
        if let range = parsed.further[WorkflowKey.when] {
            scanner.position = range.lowerBound
            when = try word(place + [WorkflowKey.when]) ?? .success
        }
        jobs.append(WorkflowDescription.Job(key, parsed.description, after: after, when: when))
    }

    /// Reads one key or an array of keys.
    private mutating func needs(_ place: [String]) throws(WorkflowError) -> [String] {
        let rule = "the key of a job, or an array of keys"
        guard scanner.current == UInt8(ascii: "[") else { return try text(place, rule: rule).map { [$0] } ?? [] }
        var needs: [String] = []
        scanner.position += 1
        scanner.skipWhitespace()
        if scanner.skip(UInt8(ascii: "]")) { return [] }
        repeat {
            scanner.skipWhitespace()
            let item = place + ["[\(needs.count)]"]
            guard scanner.current == UInt8(ascii: "\"") else { throw wrongType(item, "the key of a job") }
            needs.append(try text(item, rule: rule) ?? "")
            scanner.skipWhitespace()
        } while scanner.skip(UInt8(ascii: ","))
        return needs
    }

    private mutating func description(
        _ place: [String],
        furtherKeys: [String]
    ) throws(WorkflowError) -> DescriptionParser {
        var parser = DescriptionParser(scanner, furtherKeys: furtherKeys)
        do { try parser.parseObject() } catch { throw WorkflowError(error, in: place) }
        scanner.position = parser.scanner.position
        return parser
    }
}

// MARK: - Values

extension WorkflowParser {
    /// Calls `read` for each member of the object at the scanner's position, with the scanner at the member's value.
    private mutating func eachMember(
        _ place: [String],
        _ read: (inout WorkflowParser, String, Int) throws(WorkflowError) -> Void
    ) throws(WorkflowError) {
        var seen = Set<String>()
        scanner.position += 1
        scanner.skipWhitespace()
        if scanner.skip(UInt8(ascii: "}")) { return }
        repeat {
            scanner.skipWhitespace()
            let offset = scanner.position
            let token = try scanning(place) { scanner throws(JSONTextError) in try scanner.memberKey() }
            let key = scanner.text(token)
            guard seen.insert(key).inserted else { throw WorkflowError(.repeated(key, at: offset), in: place) }
            scanner.skipWhitespace()
            try read(&self, key, offset)
            scanner.skipWhitespace()
        } while scanner.skip(UInt8(ascii: ","))
        guard scanner.skip(UInt8(ascii: "}")) else { throw WorkflowError(scanner.expected("',' or '}'"), in: place) }
    }

    private mutating func text(_ place: [String], rule: String) throws(WorkflowError) -> String? {
        if scanner.current == UInt8(ascii: "n") { return try null(place) }
        guard scanner.current == UInt8(ascii: "\"") else { throw wrongType(place, rule) }
        return scanner.text(try scanning(place) { scanner throws(JSONTextError) in try scanner.string() })
    }

    private mutating func null<Value>(_ place: [String]) throws(WorkflowError) -> Value? {
        _ = try value(place)
        return nil
    }

    private mutating func value(_ place: [String]) throws(WorkflowError) -> Range<Int> {
        try scanning(place) { scanner throws(JSONTextError) in try scanner.value() }
    }

    /// Returns the error for a value of another type, or for text that is not JSON.
    private mutating func wrongType(_ place: [String], _ rule: String) -> WorkflowError {
        let offset = scanner.position
        do {
            _ = try value(place)
        } catch {
            return error
        }
        let message = "must be \(rule), but \(scanner.kind(at: offset)) is there"
        return WorkflowError(.wrongType, place, at: offset, message)
    }

    private mutating func scanning<Result>(
        _ place: [String],
        _ step: (inout JSONScanner) throws(JSONTextError) -> Result
    ) throws(WorkflowError) -> Result {
        do { return try step(&scanner) } catch { throw WorkflowError(error, in: place) }
    }
}

extension WorkflowDescription {
    /// Reads a workflow from its JSON text, version 1.
    ///
    /// The text must conform to RFC 8259. Unlike those of a single job, all of its keys must be known: a mistyped `after`
    /// would let a job run too early. `null` for an optional key is the same as a missing key.
    ///
    /// - Throws: ``WorkflowError`` that states what is wrong, where, and what to do.
    public init(json text: some Sequence<UInt8>) throws(WorkflowError) {
        let bytes = Array(text)
        guard bytes.count <= WorkflowParser.mostBytes else {
            throw WorkflowError(.tooLarge, [], "the text has more than 128 MiB; split the workflow, or pass references")
        }
        var parser = WorkflowParser(bytes)
        self = try parser.parse()
    }

    /// Reads a workflow from its JSON text, version 1, as the other `init(json:)` does.
    ///
    /// - Throws: ``WorkflowError`` that states what is wrong, where, and what to do.
    public init(json text: String) throws(WorkflowError) { try self.init(json: Array(text.utf8)) }
}
