extension JSONText: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral {
    /// Makes a JSON string with this text; for JSON text see ``init(validating:)``.
    public init(stringLiteral text: String) {
        var bytes: [UInt8] = []
        JSONEscaping.append(text, to: &bytes)
        self.init(unchecked: bytes)
    }

    /// Makes a JSON number.
    public init(integerLiteral number: Int64) {
        self.init(unchecked: Array(String(number).utf8))
    }

    /// Makes `true` or `false`.
    public init(booleanLiteral value: Bool) {
        self.init(unchecked: Array((value ? "true" : "false").utf8))
    }
}

extension JSONText: ExpressibleByFloatLiteral {
    /// Makes a JSON number; `null` for a number that is not finite, which JSON does not have.
    public init(floatLiteral number: Double) {
        self.init(unchecked: Array((number.isFinite ? "\(number)" : "null").utf8))
    }
}

extension JSONText: ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral {
    /// Makes a JSON array of these values.
    public init(arrayLiteral items: JSONText...) {
        self.init(unchecked: Array("[".utf8) + items.map(\.bytes).joined(separator: ",".utf8) + Array("]".utf8))
    }

    /// Makes a JSON object with these members, in this order.
    public init(dictionaryLiteral members: (String, JSONText)...) {
        var bytes = Array("{".utf8)
        for (key, value) in members {
            if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
            JSONEscaping.append(key, to: &bytes)
            bytes.append(UInt8(ascii: ":"))
            bytes.append(contentsOf: value.bytes)
        }
        bytes.append(UInt8(ascii: "}"))
        self.init(unchecked: bytes)
    }
}
