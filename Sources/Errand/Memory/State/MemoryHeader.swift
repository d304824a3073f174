/// The parts of an envelope that the broker reads: its header and its fragment, never its JSON.
package struct MemoryHeader: Sendable, Equatable {
    package let policy: UniquenessPolicy
    package let until: UniqueUntil
    package let priority: Int
    /// The timeout in milliseconds.
    package let timeout: Int64?
    package let retries: Int?
    /// The `"operation":…,"name":…` part of events.
    package let fragment: [UInt8]

    static let nameless = Array(#""operation":null,"name":null"#.utf8)
    private static let mostFragmentBytes = 8192
    private static let mostHeaderBytes = 64

    /// Reads an envelope; `nil` if it does not begin with a header of version 1.
    init?(envelope: [UInt8]) {
        guard let end = envelope.prefix(Self.mostHeaderBytes).firstIndex(of: UInt8(ascii: "\n")),
            let header = try? EnvelopeHeader(envelope[..<end])
        else { return nil }
        policy = header.policy
        until = header.until
        priority = Int(header.priority)
        timeout = header.timeout
        retries = header.retries.map { Int(clamping: $0) }
        fragment = Self.printable(envelope[(end + 1)...].prefix(header.fragmentCount))
    }

    /// Returns the fragment, or one without names if it would break the line of an event.
    private static func printable(_ fragment: ArraySlice<UInt8>) -> [UInt8] {
        let isPlain = fragment.count <= mostFragmentBytes && fragment.allSatisfy { $0 >= 0x20 }
        return isPlain && fragment.starts(with: #""operation":"#.utf8) ? Array(fragment) : nameless
    }

    /// The operation, if the fragment has one.
    package var operation: String? {
        let start = #""operation":""#.utf8
        guard fragment.starts(with: start) else { return nil }
        let name = String(decoding: fragment.dropFirst(start.count).prefix { $0 != UInt8(ascii: "\"") }, as: UTF8.self)
        return QueueName.isValid(name) ? name : nil
    }
}
