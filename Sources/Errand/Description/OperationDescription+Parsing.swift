extension OperationDescription {
    /// Reads a description from its JSON text, version 1.
    ///
    /// The text must conform to RFC 8259 and to ``DescriptionLimits``. `null` for an optional key is the same as a
    /// missing key, but `arguments` may have the value `null`. Keys that version 1 does not have are preserved.
    ///
    /// - Throws: ``DescriptionError`` that states what is wrong and at which byte.
    public init(json text: some Sequence<UInt8>) throws(DescriptionError) {
        try self.init(json: Array(text), from: 0)
    }

    /// Reads a description from its JSON text, version 1, as the other `init(json:)` does.
    ///
    /// - Throws: ``DescriptionError`` that states what is wrong and at which byte.
    public init(json text: String) throws(DescriptionError) {
        try self.init(json: Array(text.utf8), from: 0)
    }

    /// Reads the description from a position in `bytes` to their end.
    init(json bytes: [UInt8], from start: Int) throws(DescriptionError) {
        let count = bytes.count - start
        guard count <= DescriptionLimits.descriptionBytes else { throw .tooLarge(count) }
        var parser = DescriptionParser(bytes, from: start)
        do {
            try parser.parse()
        } catch {
            throw parser.unsupportedVersion(insteadOf: error) ?? error
        }
        self = parser.description
    }
}
