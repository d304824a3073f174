/// The trace context of a job, in the format of the W3C's Trace Context.
///
/// It comes from the program that pushed the job, so only valid values are passed on.
package struct TraceContext: Sendable, Equatable {
    private static let longestParent = 128
    private static let longestState = 512

    /// The span that pushed the job: version, trace, span and flags in hexadecimal digits.
    package let parent: String
    /// Additional data of tracing systems; `nil` if there is none, or it is invalid.
    package let state: String?

    /// Makes a context from untrusted texts; `nil` if the parent is invalid, because a state is meaningless without it.
    ///
    /// - Parameters:
    ///   - parent: A `traceparent` of at most 128 characters.
    ///   - state: A `tracestate`; ignored unless it is 1 to 512 printable ASCII characters.
    package init?(parent: String?, state: String?) {
        guard let parent, Self.isParent(parent) else { return nil }
        self.parent = parent
        self.state = state.flatMap { Self.isState($0) ? $0 : nil }
    }

    /// Checks `version-trace-span-flags`. Only a later version than the first may have more, after another hyphen.
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

    /// Capital letters are not permitted.
    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
    }

    private static func isZero(_ field: Substring.UTF8View) -> Bool {
        field.allSatisfy { $0 == UInt8(ascii: "0") }
    }
}

extension TraceContext {
    /// Reads the context from a job's `meta`.
    ///
    /// - Parameter fields: The fields of `meta`.
    package init?(fields: [String: String]) {
        self.init(parent: fields["traceparent"], state: fields["tracestate"])
    }

    /// Reads the context from the environment of a process.
    ///
    /// - Parameter variables: The environment.
    package init?(variables: [String: String]) {
        self.init(parent: variables["TRACEPARENT"], state: variables["TRACESTATE"])
    }

    /// The context as fields of a job's `meta` and of a web request's header.
    package var fields: [String: String] { named("traceparent", "tracestate") }

    /// The context as environment variables.
    package var variables: [String: String] { named("TRACEPARENT", "TRACESTATE") }

    private func named(_ parentName: String, _ stateName: String) -> [String: String] {
        var named = [parentName: parent]
        if let state { named[stateName] = state }
        return named
    }
}
