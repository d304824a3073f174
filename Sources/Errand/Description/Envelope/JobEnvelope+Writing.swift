extension OperationDescription {
    /// Returns the envelope of a completed description: header line, fragment, JSON text.
    func envelopeBytes() throws(DescriptionError) -> [UInt8] {
        let fragment = eventFragment()
        var output: [UInt8] = []
        output.reserveCapacity(320 + fragment.count + arguments.bytes.count + unknownMembers.count)
        appendHeader(fragmentCount: fragment.count, to: &output)
        output.append(contentsOf: fragment)
        let first = output.count
        encode(to: &output)
        try checkTotal(output.count - first)
        return output
    }

    /// Appends the header and a line feed: of version 1, or of version 2 if the job uses more than that has.
    private func appendHeader(fragmentCount: Int, to output: inout [UInt8]) {
        let isNewer = expiresMilliseconds != nil || cost != nil || group != nil
        output.append(UInt8(ascii: isNewer ? "2" : "1"))
        output.append(contentsOf: UniquenessLetter(uniquenessPolicy, until: uniqueUntil).text.utf8)
        output.append(contentsOf: String(priority).utf8)
        output.append(UInt8(ascii: ";"))
        // In version 2 the length comes first: scripts recognize a job of version 1 without a timeout by an empty field.
        if isNewer {
            output.append(contentsOf: String(fragmentCount).utf8)
            output.append(UInt8(ascii: ";"))
        }
        if let timeoutMilliseconds { output.append(contentsOf: String(timeoutMilliseconds).utf8) }
        output.append(UInt8(ascii: ";"))
        if let retries { output.append(contentsOf: String(retries).utf8) }
        output.append(UInt8(ascii: ";"))
        if isNewer {
            if let expiresMilliseconds { output.append(contentsOf: "+\(expiresMilliseconds)".utf8) }
            output.append(contentsOf: ";\(cost.map { String($0) } ?? "");\(group ?? "")".utf8)
        } else {
            output.append(contentsOf: String(fragmentCount).utf8)
        }
        output.append(UInt8(ascii: "\n"))
    }

    /// Returns operation, name and tags as members of a JSON object, which scripts copy into events without reading JSON.
    ///
    /// Tags are left out if there are none, and if the fragment would be too long for an event with them.
    func eventFragment() -> [UInt8] {
        var output = fragmentWithoutTags()
        guard !tags.isEmpty else { return output }
        let count = output.count
        encodeTags(to: &output)
        if output.count > DescriptionLimits.fragmentBytes { output.removeSubrange(count...) }
        return output
    }

    /// Returns operation and name as members of a JSON object.
    func fragmentWithoutTags() -> [UInt8] {
        var output = Array(#""operation":""#.utf8)
        output.append(contentsOf: operation.utf8)
        output.append(contentsOf: #"","name":"#.utf8)
        if let name {
            JSONEscaping.append(name, to: &output)
        } else {
            output.append(contentsOf: "null".utf8)
        }
        return output
    }
}

extension JobEnvelope {
    /// Returns the form that the broker stores: the time since which the job has been ready, in 13 digits of
    /// milliseconds since 1970, and the envelope.
    package func stored(readySince: Int64) -> [UInt8] {
        let clamped = min(max(readySince, 0), DescriptionLimits.notBeforeMilliseconds.upperBound)
        let digits = String(clamped)
        return Array(repeating: UInt8(ascii: "0"), count: StoredJob.timeDigits - digits.utf8.count) + digits.utf8
            + bytes
    }
}
