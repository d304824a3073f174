/// The rule for header fields that a caller may set.
package enum HTTPFieldRule {
    /// Fields that frame the request, control its connection or name the server. The client sets them; a wrong value
    /// would cut off this request or the next one on its connection.
    private static let reserved: Set<String> = [
        "connection", "content-length", "expect", "host", "keep-alive", "proxy-connection", "te", "trailer",
        "transfer-encoding", "upgrade",
    ]

    /// Returns the problem with a field, or `nil`.
    package static func problem(name: String, value: String) -> String? {
        guard !name.isEmpty, name.utf8.allSatisfy(isTokenByte) else {
            return "\"\(name)\" is not a header field's name; letters, digits and - are allowed"
        }
        guard !reserved.contains(name.lowercased()) else {
            return "the header field \"\(name)\" is set by the client that sends the request; leave it out"
        }
        guard value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
            return "holds a line break or another control character; a header field has one line"
        }
        return nil
    }

    private static func isTokenByte(_ byte: UInt8) -> Bool {
        byte > 0x20 && byte < 0x7F && !"\"(),/:;<=>?@[\\]{}".utf8.contains(byte)
    }
}
