package import Errand

/// A JSON value for programs: written on one line, with keys in insertion order.
package enum JSONOutput: Sendable {
    /// A string.
    case text(String)
    /// A whole number.
    case number(Int64)
    /// `true` or `false`.
    case truth(Bool)
    /// No value.
    case null
    /// Several values.
    case list([JSONOutput])
    /// Keys and values.
    case object([(key: String, value: JSONOutput)])
    /// JSON text that is known to be valid and is written as it is.
    case written([UInt8])

    /// Makes a string, or `null`.
    package static func text(orNull text: String?) -> JSONOutput { text.map(JSONOutput.text) ?? .null }

    /// Makes a number, or `null`.
    package static func number(orNull number: Int64?) -> JSONOutput { number.map(JSONOutput.number) ?? .null }

    /// Makes a number with at most two decimals; `null` if it is not finite or 1e13 or more.
    package static func decimal(_ number: Double) -> JSONOutput {
        guard number.isFinite, abs(number) < 1e13 else { return .null }
        let hundredths = Int64((number * 100).rounded())
        let (whole, rest) = (abs(hundredths) / 100, abs(hundredths) % 100)
        let sign = hundredths < 0 ? "-" : ""
        return .written(Array("\(sign)\(whole)\(rest == 0 ? "" : rest < 10 ? ".0\(rest)" : ".\(rest)")".utf8))
    }

    /// Makes a whole number.
    package static func count(_ number: Int) -> JSONOutput { .number(Int64(number)) }

    /// Returns an object with further members at its end; any other value unchanged.
    package func with(_ more: KeyValuePairs<String, JSONOutput>) -> JSONOutput {
        guard case .object(let members) = self else { return self }
        return .object(members + more.map { ($0.key, $0.value) })
    }

    /// The JSON text.
    package var bytes: [UInt8] {
        var output: [UInt8] = []
        write(to: &output)
        return output
    }

    private func write(to output: inout [UInt8]) {
        switch self {
        case .text(let text): JSONEscaping.append(text, to: &output)
        case .number(let number): output += Array(String(number).utf8)
        case .truth(let truth): output += Array((truth ? "true" : "false").utf8)
        case .null: output += Array("null".utf8)
        case .list(let values): Self.write(values, between: "[]", to: &output) { $0.write(to: &$1) }
        case .object(let members):
            Self.write(members, between: "{}", to: &output) { member, output in
                JSONEscaping.append(member.key, to: &output)
                output.append(UInt8(ascii: ":"))
                member.value.write(to: &output)
            }
        // A line feed in valid JSON is always white space between values.
        case .written(let bytes): output += bytes.map { $0 == 0x0A || $0 == 0x0D ? 0x20 : $0 }
        }
    }

    private static func write<Item>(
        _ items: [Item],
        between brackets: String,
        to output: inout [UInt8],
        _ writeItem: (Item, inout [UInt8]) -> Void
    ) {
        output += Array(brackets.utf8.prefix(1))
        for (index, item) in items.enumerated() {
            if index > 0 { output.append(UInt8(ascii: ",")) }
            writeItem(item, &output)
        }
        output += Array(brackets.utf8.suffix(1))
    }
}

extension JSONOutput: ExpressibleByDictionaryLiteral {
    /// Makes an object with these members, in this order.
    package init(dictionaryLiteral members: (String, JSONOutput)...) {
        self = .object(members.map { (key: $0.0, value: $0.1) })
    }
}

extension Receipt {
    /// The receipt as JSON for programs. `holder` is always present, and `null` if no job held the name.
    package var json: JSONOutput {
        let members: JSONOutput = [
            "id": .text(id), "queue": .text(queue), "outcome": .text(outcome.rawValue), "holder": .text(orNull: holder),
        ]
        return until.map { members.with(["until_ms": .number($0)]) } ?? members
    }
}
