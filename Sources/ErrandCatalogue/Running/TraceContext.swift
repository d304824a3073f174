/// What lets a trace follow a job, as the W3C's Trace Context writes it.
///
/// It comes from wherever a job was pushed, so only what is certainly valid is passed on.
package struct TraceContext: Sendable, Equatable {
    private static let longestParent = 128
    private static let longestState = 512

    /// The span that the job comes from: version, trace, span and flags in hexadecimal digits.
    package let parent: String
    /// What tracing systems add to it; `nil` where that is nothing, or nothing that may be passed on.
    package let state: String?

    /// Takes what was said elsewhere; `nil` unless the parent is valid, since a state means nothing without it.
    ///
    /// - Parameters:
    ///   - parent: A `traceparent` of at most 128 characters.
    ///   - state: A `tracestate`; left out unless it is 1 to 512 printable ASCII characters.
    package init?(parent: String?, state: String?) {
        guard let parent, Self.isParent(parent) else { return nil }
        self.parent = parent
        self.state = state.flatMap { Self.isState($0) ? $0 : nil }
    }

    /// `version-trace-span-flags`. Only a later version than the first may say more, behind another hyphen.
    private static func isParent(_ text: String) -> Bool {
        guard text.utf8.count <= longestParent else { return false }
        let fields = text.utf8.split(separator: UInt8(ascii: "-"), maxSplits: 4, omittingEmptySubsequences: false)
        guard fields.prefix(4).map(\.count) == [2, 32, 16, 2],
            fields.prefix(4).allSatisfy({ $0.allSatisfy(isHexadecimal) }),
            !fields[0].elementsEqual("ff".utf8), !isZero(fields[1]), !isZero(fields[2])
        else { return false }
        if fields.count == 4 { return true }
        return !isZero(fields[0]) && fields[4].allSatisfy { (0x21...0x7E).contains($0) }
    }

    private static func isState(_ text: String) -> Bool {
        (1...longestState).contains(text.utf8.count) && text.utf8.allSatisfy { (0x20...0x7E).contains($0) }
    }

    /// Capital letters are not allowed.
    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
    }

    private static func isZero(_ field: Substring.UTF8View) -> Bool {
        field.allSatisfy { $0 == UInt8(ascii: "0") }
    }
}

extension TraceContext {
    /// Reads it as it travels in a job's `meta`.
    ///
    /// - Parameter fields: What travels along.
    package init?(fields: [String: String]) {
        self.init(parent: fields["traceparent"], state: fields["tracestate"])
    }

    /// Reads it as a process gets it in its environment.
    ///
    /// - Parameter variables: The environment.
    package init?(variables: [String: String]) {
        self.init(parent: variables["TRACEPARENT"], state: variables["TRACESTATE"])
    }

    /// As it travels in a job's `meta` and in the header of a web request.
    package var fields: [String: String] { named("traceparent", "tracestate") }

    /// As a process gets it in its environment.
    package var variables: [String: String] { named("TRACEPARENT", "TRACESTATE") }

    private func named(_ parentName: String, _ stateName: String) -> [String: String] {
        var named = [parentName: parent]
        if let state { named[stateName] = state }
        return named
    }
}
