/// The parts of an envelope that the broker reads: its header and its fragment, never its JSON.
package struct MemoryHeader: Sendable, Equatable {
    package let policy: UniquenessPolicy
    package let until: UniqueUntil
    package let priority: Int
    /// The timeout in milliseconds.
    package let timeout: Int64?
    package let retries: Int?
    /// Whether it is of version 2. Such jobs are never dispatched directly.
    let isNewer: Bool
    /// How long after the push the job expires, in milliseconds; `nil` if it does not.
    let expiresIn: Int64?
    /// What the job is charged in its group's share.
    let cost: Int64
    /// The group; `nil` for none.
    package let group: GroupName?
    /// The `"operation":…,"name":…,"tags":…` part of events.
    package let fragment: [UInt8]

    static let nameless = Array(#""operation":null,"name":null"#.utf8)
    private static let mostHeaderBytes = EnvelopeReader.mostHeaderBytes

    /// Reads an envelope; `nil` if it does not begin with a header of version 1 or 2, as it is pushed.
    init?(envelope: [UInt8]) {
        guard let end = envelope.prefix(Self.mostHeaderBytes).firstIndex(of: UInt8(ascii: "\n")),
            let header = try? EnvelopeHeader(envelope[..<end])
        else { return nil }
        isNewer = envelope.first == UInt8(ascii: "2")
        switch header.expiry {
        case .afterPush(let milliseconds): expiresIn = milliseconds
        case .at: return nil
        case nil: expiresIn = nil
        }
        policy = header.policy
        until = header.until
        priority = Int(header.priority)
        timeout = header.timeout
        retries = header.retries.map { Int(clamping: $0) }
        cost = min(max(header.cost ?? 1, DescriptionLimits.cost.lowerBound), DescriptionLimits.cost.upperBound)
        group = header.group.map { GroupName(valid: $0) }
        fragment = Self.printable(envelope[(end + 1)...].prefix(header.fragmentCount))
    }

    /// Returns the fragment, or one without names if it would break the line of an event.
    private static func printable(_ fragment: ArraySlice<UInt8>) -> [UInt8] {
        let isPlain = fragment.count <= DescriptionLimits.fragmentBytes && fragment.allSatisfy { $0 >= 0x20 }
        return isPlain && fragment.starts(with: #""operation":"#.utf8) ? Array(fragment) : nameless
    }

    /// The operation, if the fragment has one.
    package var operation: String? { EventFragment.operation(in: fragment) }
}
