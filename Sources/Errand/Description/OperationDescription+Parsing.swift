extension OperationDescription {
    /// Reads a description from its JSON text, version 1.
    ///
    /// The text is held to RFC 8259 and to the limits of ``DescriptionLimits``. `null` for a key that may be left out
    /// is the same as leaving it out; `arguments` may be `null` as any other value. Keys that version 1 does not know
    /// are kept and written again.
    ///
    /// - Throws: ``DescriptionError`` saying what is wrong and at which byte.
    public init(json text: some Sequence<UInt8>) throws(DescriptionError) {
        try self.init(json: Array(text), from: 0)
    }

    /// Reads a description from its JSON text, version 1, as the other `init(json:)` does.
    ///
    /// - Throws: ``DescriptionError`` saying what is wrong and at which byte.
    public init(json text: String) throws(DescriptionError) {
        try self.init(json: Array(text.utf8), from: 0)
    }

    /// Reads the description that begins somewhere in `bytes` and goes on to their end.
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
