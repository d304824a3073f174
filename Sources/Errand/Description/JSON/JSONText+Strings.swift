extension JSONText {
    /// Makes an object of strings, sorted by the bytes of their keys.
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

    /// Returns the object with these members after its own; the last of members with the same key is used. A value that
    /// is not an object is replaced.
    func adding(_ strings: [String: String]) -> JSONText {
        let more = JSONText(strings: strings)
        guard !strings.isEmpty else { return self }
        guard bytes.first == UInt8(ascii: "{"), bytes.dropFirst().contains(where: { $0 == UInt8(ascii: "\"") }) else {
            return more
        }
        return JSONText(unchecked: bytes.dropLast() + [UInt8(ascii: ",")] + more.bytes.dropFirst())
    }

    /// The members of an object whose values are strings; the last of two with the same key.
    var stringMembers: [String: String] {
        var strings: [String: String] = [:]
        for (key, value) in members {
            if let string = value.string { strings[key] = string }
        }
        return strings
    }

    /// The value if it is a string, without its escapes.
    package var string: String? {
        var scanner = JSONScanner(bytes)
        guard scanner.current == UInt8(ascii: "\""), let token = try? scanner.string() else { return nil }
        return scanner.text(token)
    }
}
