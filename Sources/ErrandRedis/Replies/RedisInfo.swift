import ErrandText

/// The server's INFO, as lines `name:value`.
package struct RedisInfo: Sendable {
    /// The maximum number of bytes of INFO that are parsed.
    private static let most = 1 << 20

    private let facts: [String: String]

    /// Parses INFO's text, and ignores lines that are not `name:value`.
    package init(text: String) {
        var facts: [String: String] = [:]
        for line in text.utf8.prefix(Self.most).split(whereSeparator: { $0 == 0x0D || $0 == 0x0A }) {
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { continue }
            let value = line[line.index(after: colon)...]
            facts[String(decoding: line[..<colon], as: UTF8.self)] = String(decoding: value, as: UTF8.self).printable
        }
        self.facts = facts
    }

    /// Returns the value of a name, on one line and without control characters.
    package subscript(name: String) -> String? { facts[name] }

    /// The engine and its version, such as `redis 7.0.15`.
    ///
    /// Valkey names itself in `server_name`, and has its version in `valkey_version`; its `redis_version` is the one
    /// with which it is compatible. Redis has no such name.
    package var engine: String {
        let name = self["server_name"] ?? "redis"
        return "\(name) \(self["\(name)_version"] ?? self["redis_version"] ?? "unknown")"
    }

    /// Returns the value of a name as a number.
    package func number(_ name: String) -> Int? { facts[name].flatMap { Int($0) } }
}
