/// Reads a stored job from front to back, and checks every length against the remaining bytes.
struct EnvelopeReader {
    private let bytes: [UInt8]
    private var position = 0

    /// The maximum length of a header line in bytes, including its line feed.
    static let mostHeaderBytes = 512

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    mutating func time() throws(EnvelopeError) -> Int64 {
        let digits = bytes.prefix(StoredJob.timeDigits)
        guard digits.count == StoredJob.timeDigits, let time = decimal(digits) else {
            throw EnvelopeError(.time, "it must begin with 13 digits, the time in milliseconds since 1970")
        }
        position = digits.endIndex
        return time
    }

    mutating func header() throws(EnvelopeError) -> EnvelopeHeader {
        guard let end = bytes[position...].prefix(Self.mostHeaderBytes).firstIndex(of: UInt8(ascii: "\n")) else {
            throw EnvelopeError(.header, "no line feed ends it within \(Self.mostHeaderBytes) bytes")
        }
        let line = bytes[position..<end]
        position = end + 1
        return try EnvelopeHeader(line)
    }

    mutating func fragment(count: Int) throws(EnvelopeError) -> ArraySlice<UInt8> {
        guard count <= bytes.count - position else {
            throw EnvelopeError(
                .fragment,
                "its length is \(count) bytes, but only \(bytes.count - position) follow"
            )
        }
        let fragment = bytes[position..<position + count]
        position += count
        return fragment
    }

    func description() throws(EnvelopeError) -> OperationDescription {
        do {
            return try OperationDescription(json: bytes, from: position)
        } catch {
            throw EnvelopeError(error)
        }
    }

    /// Throws if the fragment differs from the description. Other programs may escape texts differently and leave out
    /// tags, so if the bytes differ, the values are compared.
    func check(_ fragment: ArraySlice<UInt8>, against description: OperationDescription) throws(EnvelopeError) {
        guard !description.uniquenessPolicy.needsName || description.name != nil else {
            throw EnvelopeError(
                .description,
                "\"name\" is missing: a job with a uniqueness policy needs its settled name"
            )
        }
        if description.hasPlainFragment(fragment) || fragment.elementsEqual(description.eventFragment()) { return }
        guard let meant = meaning(of: fragment) else {
            throw EnvelopeError(
                .fragment,
                "it must be \"operation\":…,\"name\":…,\"tags\":… on one line; it cannot be read as that"
            )
        }
        guard meant.fragmentWithoutTags() == description.fragmentWithoutTags(), meant.isFragment,
            meant.tags.isEmpty || meant.tags == description.tags
        else {
            throw EnvelopeError(.fragment, "it differs from the description's operation, name and tags")
        }
    }

    /// Returns the fragment as a description; `nil` if it is invalid or would split the line of an event.
    private func meaning(of fragment: ArraySlice<UInt8>) -> OperationDescription? {
        guard fragment.allSatisfy({ $0 >= 0x20 }) else { return nil }
        return try? OperationDescription(json: Array("{".utf8) + fragment + Array("}".utf8), from: 0)
    }
}

extension OperationDescription {
    /// Whether this is the fragment of a job without a name and tags, as ``eventFragment()`` writes it: compared without
    /// writing it, because most jobs are.
    fileprivate func hasPlainFragment(_ fragment: ArraySlice<UInt8>) -> Bool {
        let (start, end): (StaticString, StaticString) = (#""operation":""#, #"","name":null"#)
        guard name == nil, tags.isEmpty, fragment.count == start.bytes.count + operation.utf8.count + end.bytes.count
        else { return false }
        return fragment.starts(with: start.bytes) && fragment.dropFirst(start.bytes.count).starts(with: operation.utf8)
            && fragment.suffix(end.bytes.count).elementsEqual(end.bytes)
    }

    /// Whether only members of a fragment are given.
    fileprivate var isFragment: Bool {
        var bare = OperationDescription(unchecked: operation)
        bare.name = name
        bare.tags = tags
        return self == bare
    }
}
