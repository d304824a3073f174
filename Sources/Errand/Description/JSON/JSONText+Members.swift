extension JSONText {
    /// An object's members in their order, each value as it was written; none when it is no object.
    package var members: [(key: String, value: JSONText)] {
        var members: [(key: String, value: JSONText)] = []
        var scanner = JSONScanner(bytes)
        guard scanner.skip(UInt8(ascii: "{")) else { return members }
        while let (key, value) = scanner.nextMember() {
            members.append((key, JSONText(unchecked: Array(bytes[value]))))
        }
        return members
    }

    /// An object with only these members, in the order of their keys; one that is missing is `null`, and of two with the same
    /// key the last counts. Any other value than an object has no members.
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
    /// The next member of an object that was validated, and where its value stands; `nil` after the last.
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
