/// The header line of an envelope.
struct EnvelopeHeader: Equatable {
    let policy: UniquenessPolicy
    let until: UniqueUntil
    let priority: Int64
    let timeout: Int64?
    let retries: Int64?
    let fragmentCount: Int
    /// When the job expires unless it has been claimed.
    let expiry: EnvelopeExpiry?
    /// What the job is charged in its group's share; `nil` for 1.
    let cost: Int64?
    /// The group, which is valid.
    let group: String?

    /// Reads a header line without its line feed.
    init(_ line: ArraySlice<UInt8>) throws(EnvelopeError) {
        let isNewer = line.first == UInt8(ascii: "2")
        guard isNewer || line.first == UInt8(ascii: "1") else {
            throw EnvelopeError(
                .header,
                "it must begin with 1 or 2, the versions of the envelope that this program knows"
            )
        }
        var fields = line.split(
            separator: UInt8(ascii: ";"),
            maxSplits: isNewer ? 6 : 4,
            omittingEmptySubsequences: false
        )
        guard fields.count == (isNewer ? 7 : 4), fields[0].count == 3 else { throw Self.malformed }
        // In the order of version 1.
        if isNewer { fields.swapAt(1, 2); fields.swapAt(2, 3) }
        expiry = isNewer && !fields[4].isEmpty ? try EnvelopeExpiry(fields[4]) : nil
        cost = isNewer ? try Self.optional(fields[5]) : nil
        group = isNewer ? try Self.group(fields[6]) : nil
        guard let rule = UniquenessLetter(fields[0][line.startIndex + 1]) else {
            throw EnvelopeError(.header, "its policy must be one of the letters i, d, r, k, t, B, D, R and K")
        }
        guard let priority = decimal(fields[0].suffix(1)), let count = decimal(fields[3]) else { throw Self.malformed }
        policy = rule.policy
        until = rule.until
        self.priority = priority
        timeout = try Self.optional(fields[1])
        retries = try Self.optional(fields[2])
        fragmentCount = Int(clamping: count)
    }

    private static func group(_ field: ArraySlice<UInt8>) throws(EnvelopeError) -> String? {
        if field.isEmpty { return nil }
        guard DescriptionRules.isGroup(field) else { throw malformed }
        return String(decoding: field, as: UTF8.self)
    }

    private static func optional(_ digits: ArraySlice<UInt8>) throws(EnvelopeError) -> Int64? {
        if digits.isEmpty { return nil }
        guard let number = decimal(digits) else { throw malformed }
        return number
    }

    static var malformed: EnvelopeError {
        EnvelopeError(
            .header,
            "it must be 1<policy><priority>;<timeout>;<retries>;<length of the fragment>, or "
                + "2<policy><priority>;<length>;<timeout>;<retries>;<expiry>;<cost>;<group>, in plain digits"
        )
    }

    /// Throws if the header differs from the description.
    func check(against description: OperationDescription) throws(EnvelopeError) {
        try compare("unique", policy.rawValue, description.uniquenessPolicy.rawValue)
        try compare("unique_until", until.rawValue, description.uniqueUntil.rawValue)
        try compare("priority", priority, Int64(description.priority))
        try compare("timeout_ms", timeout, description.timeoutMilliseconds)
        try compare("retries", retries, description.retries.map(Int64.init))
        try compare("cost", cost, description.cost.map(Int64.init))
        try compare("group", group, description.group)
    }

    private func compare<Value: Equatable>(
        _ what: String,
        _ said: Value,
        _ described: Value
    ) throws(EnvelopeError) {
        guard said != described else { return }
        throw EnvelopeError(.header, "its \(what) differs from that of the description")
    }
}
