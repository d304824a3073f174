import Errand

/// The parts of a broker's URL: `scheme://[user[:password]@]authority[/path][?query]`, parsed by the same rules for
/// every scheme.
struct BrokerURL {
    /// The scheme in lower case.
    let scheme: String
    /// The user; `nil` if the URL has none.
    let user: String?
    /// The password, which is never empty; `nil` if the URL has no credentials.
    let password: String?
    /// The text between the credentials and the path, still percent-encoded.
    let authority: Substring
    /// The decoded path, with its leading slash.
    let path: String
    /// The decoded names and values after `?`.
    let query: [(name: String, value: String)]

    /// Parses a URL.
    ///
    /// - Throws: `BrokerError` with code `refused` that describes the problem, and contains nothing that may be a
    ///   password.
    init(_ url: String) throws(BrokerError) {
        guard url.unicodeScalars.allSatisfy({ $0.value > 0x20 && $0.value != 0x7F }) else {
            throw Self.bad(
                "it contains a space, a line break or another control character; remove it, or write it percent-encoded"
            )
        }
        guard let mark = url.firstRange(of: "://"), mark.lowerBound > url.startIndex else {
            throw Self.bad("it has no scheme such as redis://")
        }
        scheme = url[..<mark.lowerBound].lowercased()
        let rest = url[mark.upperBound...]
        let end = rest.firstIndex { "/?#".contains($0) } ?? rest.endIndex
        let at = rest[..<end].lastIndex(of: "@")
        if at == nil, rest[end...].contains("@"), scheme != "unix" || end > rest.startIndex {
            throw Self.bad("a /, ?, # or @ in a user or password must be percent-encoded (%2F, %3F, %23, %40)")
        }
        (user, password) = try Self.credentials(at.map { rest[..<$0] })
        authority = rest[(at.map(rest.index(after:)) ?? rest.startIndex)..<end]
        let tail = rest[end...]
        guard !tail.contains("#") else { throw Self.bad("it may not have a fragment (#)") }
        let question = tail.firstIndex(of: "?") ?? tail.endIndex
        path = try Self.decoded(tail[..<question], "path")
        query = try Self.query(tail[question...].dropFirst())
    }

    /// Parses user and password, a password alone, or neither: a server treats a client that sends no password as its
    /// user `default`, whatever the URL contains.
    private static func credentials(_ text: Substring?) throws(BrokerError) -> (user: String?, password: String?) {
        guard let text else { return (nil, nil) }
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let user = try decoded(parts[0], "user")
        let password = parts.count == 2 ? try decoded(parts[1], "password") : ""
        guard !password.isEmpty else {
            throw bad(
                user.isEmpty
                    ? "its credentials in front of the @ are empty"
                    : "it names a user without a password, and the server would take its user default instead; "
                        + "write user:password@"
            )
        }
        return (user.isEmpty ? nil : user, password)
    }

    private static func query(_ text: Substring) throws(BrokerError) -> [(name: String, value: String)] {
        var items: [(name: String, value: String)] = []
        for item in text.split(separator: "&", omittingEmptySubsequences: true) {
            let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            items.append((try decoded(parts[0], "query"), parts.count == 2 ? try decoded(parts[1], "query") : ""))
        }
        return items
    }

    /// Percent-decodes a part. A part that cannot be decoded is never used unchanged, because it would be another name
    /// or password.
    static func decoded(_ text: Substring, _ part: String) throws(BrokerError) -> String {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = rest.prefix(2)
            guard digits.count == 2, digits.allSatisfy(\.isHexDigit),
                let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
            else { throw bad("a % in its \(part) must be followed by two hexadecimal digits; % itself is %25") }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        guard let decoded = String(validating: bytes, as: UTF8.self), !bytes.contains(0) else {
            throw bad("its \(part) is not UTF-8, or contains a NUL")
        }
        return decoded
    }

    /// Parses a number of at most five digits, and nothing else.
    static func number(_ text: Substring) -> Int? {
        guard (1...5).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return Int(text)
    }

    static func bad(_ what: String) -> BrokerError {
        BrokerError(
            .refused,
            "bad broker URL: \(what). Expected redis://host[:port][/db], redis+cluster://host[:port],…, "
                + "redis+sentinel://host[:port],…/master[/db] or unix:///path/to/socket[?db=n], "
                + "if need be with user:password@ or :password@ after the slashes"
        )
    }
}

extension UInt8 {
    fileprivate var isHexDigit: Bool {
        switch self {
        case 0x30...0x39, 0x41...0x46, 0x61...0x66: true
        default: false
        }
    }
}
