extension JSONText {
    /// The members of an object in their order, with their values as written; empty for other values.
    package var members: [(key: String, value: JSONText)] {
        var members: [(key: String, value: JSONText)] = []
        var scanner = JSONScanner(bytes)
        guard scanner.skip(UInt8(ascii: "{")) else { return members }
        while let (key, value) = scanner.nextMember() {
            members.append((key, JSONText(unchecked: Array(bytes[value]))))
        }
        return members
    }

    /// Returns an object with only these members, sorted by key. A missing member is `null`, and the last of two with
    /// the same key is used. Other values are treated as an empty object.
    func picking(_ keys: Set<String>) -> JSONText {
        let found = Dictionary(members.map { ($0.key, $0.value) }, uniquingKeysWith: { $1 })
        var picked = Array("{".utf8)
        for key in keys.sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) {
            if picked.count > 1 { picked.append(UInt8(ascii: ",")) }
            JSONEscaping.append(key, to: &picked)
            picked.append(UInt8(ascii: ":"))
            picked.append(contentsOf: (found[key] ?? .null).bytes)
        }
        picked.append(UInt8(ascii: "}"))
        return JSONText(unchecked: picked)
    }
}

extension JSONScanner {
    /// Returns the next member of a valid object with the range of its value; `nil` after the last.
    mutating func nextMember() -> (String, Range<Int>)? {
        skipWhitespace()
        _ = skip(UInt8(ascii: ","))
        skipWhitespace()
        guard current == UInt8(ascii: "\""), let key = try? memberKey() else { return nil }
        skipWhitespace()
        guard let value = try? value() else { return nil }
        return (text(key), value)
    }
}
