extension JSONText: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral {
    /// A JSON string with this text; to take JSON as it is written, see ``init(validating:)``.
    public init(stringLiteral text: String) {
        var bytes: [UInt8] = []
        JSONEscaping.append(text, to: &bytes)
        self.init(unchecked: bytes)
    }

    /// A JSON number.
    public init(integerLiteral number: Int64) {
        self.init(unchecked: Array(String(number).utf8))
    }

    /// `true` or `false`.
    public init(booleanLiteral value: Bool) {
        self.init(unchecked: Array((value ? "true" : "false").utf8))
    }
}

extension JSONText: ExpressibleByFloatLiteral {
    /// A JSON number; `null` for one that is not finite, which JSON cannot write.
    public init(floatLiteral number: Double) {
        self.init(unchecked: Array((number.isFinite ? "\(number)" : "null").utf8))
    }
}

extension JSONText: ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral {
    /// A JSON array of these values.
    public init(arrayLiteral items: JSONText...) {
        self.init(unchecked: Array("[".utf8) + items.map(\.bytes).joined(separator: ",".utf8) + Array("]".utf8))
    }

    /// A JSON object with these members, in this order.
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
