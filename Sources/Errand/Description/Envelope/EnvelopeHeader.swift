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
                "it must begin with 1 or 2, the formats that this version of Errand knows; if a newer version pushed the job, "
                    + "update this program and retry the job"
            )
        }
        var rest = line
        let first = try Self.field(of: &rest)
        // Version 1 ends with the length, version 2 begins with it and ends with the group.
        let length = isNewer ? try Self.field(of: &rest) : nil
        let (timeout, retries) = (try Self.field(of: &rest), try Self.field(of: &rest))
        let expiry = isNewer ? try Self.field(of: &rest) : []
        cost = isNewer ? try Self.optional(Self.field(of: &rest)) : nil
        group = isNewer ? try Self.group(rest) : nil
        self.expiry = expiry.isEmpty ? nil : try EnvelopeExpiry(expiry)
        guard first.count == 3, let priority = decimal(first.suffix(1)), let count = decimal(length ?? rest) else {
            throw Self.malformed
        }
        guard let rule = UniquenessLetter(first[line.startIndex + 1]) else {
            throw EnvelopeError(.header, "its policy must be one of the letters i, d, r, k, t, B, D, R and K")
        }
        policy = rule.policy
        until = rule.until
        self.priority = priority
        self.timeout = try Self.optional(timeout)
        self.retries = try Self.optional(retries)
        fragmentCount = Int(clamping: count)
    }

    /// Removes a field and the semicolon that ends it. Splitting the whole line would take several allocations.
    private static func field(of rest: inout ArraySlice<UInt8>) throws(EnvelopeError) -> ArraySlice<UInt8> {
        guard let end = rest.firstIndex(of: UInt8(ascii: ";")) else { throw malformed }
        defer { rest = rest[(end + 1)...] }
        return rest[..<end]
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
                + "2<policy><priority>;<length>;<timeout>;<retries>;<expiry>;<cost>;<group>, all numbers in plain digits"
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
