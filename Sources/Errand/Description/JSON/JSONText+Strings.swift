extension JSONText {
    /// An object of strings, sorted by the bytes of their keys.
    init(strings: [String: String]) {
        var bytes = Array("{".utf8)
        for (key, value) in strings.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
            if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
            JSONEscaping.append(key, to: &bytes)
            bytes.append(UInt8(ascii: ":"))
            JSONEscaping.append(value, to: &bytes)
        }
        bytes.append(UInt8(ascii: "}"))
        self.init(unchecked: bytes)
    }

    /// The object with these members behind its own; of members with the same key the last counts. Any other value than an
    /// object is replaced.
    func adding(_ strings: [String: String]) -> JSONText {
        let more = JSONText(strings: strings)
        guard !strings.isEmpty else { return self }
        guard bytes.first == UInt8(ascii: "{"), bytes.dropFirst().contains(where: { $0 == UInt8(ascii: "\"") }) else {
            return more
        }
        return JSONText(unchecked: bytes.dropLast() + [UInt8(ascii: ",")] + more.bytes.dropFirst())
    }

    /// The members of an object whose values are strings; of two with the same key, the last.
    var stringMembers: [String: String] {
        var members: [String: String] = [:]
        var scanner = JSONScanner(bytes)
        guard scanner.skip(UInt8(ascii: "{")) else { return members }
        while let (key, value) = scanner.nextMember() {
            if let value { members[key] = value }
        }
        return members
    }
}

extension JSONScanner {
    /// The next member of an object that was validated, its value only where that is a string; nil after the last.
    fileprivate mutating func nextMember() -> (String, String?)? {
        skipWhitespace()
        _ = skip(UInt8(ascii: ","))
        skipWhitespace()
        guard current == UInt8(ascii: "\""), let key = try? memberKey() else { return nil }
        skipWhitespace()
        if current == UInt8(ascii: "\"") {
            guard let value = try? string() else { return nil }
            return (text(key), text(value))
        }
        guard (try? value()) != nil else { return nil }
        return (text(key), nil)
    }
}
