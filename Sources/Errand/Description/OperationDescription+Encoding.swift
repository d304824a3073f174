extension OperationDescription {
    /// Returns the description as JSON text, version 1.
    ///
    /// Keys have a fixed order, with unknown ones last and unchanged. There is no white space, and keys without a value
    /// are omitted, except `v` and `arguments`. The bytes of the arguments are unchanged.
    public func encoded() -> [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity(256 + arguments.bytes.count + unknownMembers.count)
        encode(to: &output)
        return output
    }

    func encode(to output: inout [UInt8]) {
        output.append(contentsOf: #"{"v":1,"operation":""#.utf8)
        output.append(contentsOf: operation.utf8)
        output.append(contentsOf: #"","arguments":"#.utf8)
        output.append(contentsOf: arguments.bytes)
        encodeTexts(to: &output)
        encodeNumbers(to: &output)
        if let id { append(#","id":""#, plain: id, to: &output) }
        encodeTags(to: &output)
        if let metaText {
            output.append(contentsOf: #","meta":"#.utf8)
            output.append(contentsOf: metaText.bytes)
        }
        if let workflow {
            append(#","workflow":{"id":""#, plain: workflow.id.description, to: &output)
            append(#","key":""#, plain: workflow.key, to: &output)
            output.append(UInt8(ascii: "}"))
        }
        if !unknownMembers.isEmpty {
            output.append(UInt8(ascii: ","))
            output.append(contentsOf: unknownMembers)
        }
        output.append(UInt8(ascii: "}"))
    }

    private func encodeTexts(to output: inout [UInt8]) {
        if let givenQueue { append(#","queue":""#, plain: givenQueue, to: &output) }
        if let name {
            output.append(contentsOf: #","name":"#.utf8)
            JSONEscaping.append(name, to: &output)
        }
        if let givenPolicy { append(#","unique":""#, plain: givenPolicy.rawValue, to: &output) }
        if let givenUniqueUntil { append(#","unique_until":""#, plain: givenUniqueUntil.rawValue, to: &output) }
    }

    func encodeTags(to output: inout [UInt8]) {
        guard !tags.isEmpty else { return }
        output.append(contentsOf: #","tags":["#.utf8)
        for (index, tag) in tags.enumerated() {
            if index > 0 { output.append(UInt8(ascii: ",")) }
            JSONEscaping.append(tag, to: &output)
        }
        output.append(UInt8(ascii: "]"))
    }

    private func encodeNumbers(to output: inout [UInt8]) {
        if let windowMilliseconds { append(#","window_ms":"#, windowMilliseconds, to: &output) }
        if let atMostMilliseconds { append(#","at_most_ms":"#, atMostMilliseconds, to: &output) }
        if let timeoutMilliseconds { append(#","timeout_ms":"#, timeoutMilliseconds, to: &output) }
        if let notBefore { append(#","not_before_ms":"#, notBefore, to: &output) }
        if let expiresMilliseconds { append(#","expires_ms":"#, expiresMilliseconds, to: &output) }
        if let retries { append(#","retries":"#, Int64(retries), to: &output) }
        if let backoffText {
            output.append(contentsOf: #","backoff":"#.utf8)
            output.append(contentsOf: backoffText.bytes)
        }
        if let givenPriority { append(#","priority":"#, Int64(givenPriority), to: &output) }
        if let group { append(#","group":""#, plain: group, to: &output) }
        if let cost { append(#","cost":"#, Int64(cost), to: &output) }
    }

    /// Appends a key and a text without characters that need escapes.
    private func append(_ key: StaticString, plain text: String, to output: inout [UInt8]) {
        output.append(contentsOf: key.bytes)
        output.append(contentsOf: text.utf8)
        output.append(UInt8(ascii: "\""))
    }

    private func append(_ key: StaticString, _ number: Int64, to output: inout [UInt8]) {
        output.append(contentsOf: key.bytes)
        output.append(contentsOf: String(number).utf8)
    }
}

extension StaticString {
    /// The bytes of a literal, which remain valid as long as the program runs.
    var bytes: UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(start: utf8Start, count: utf8CodeUnitCount)
    }
}
