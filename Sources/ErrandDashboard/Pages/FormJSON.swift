import ErrandOperator

/// JSON for a form field: invisible characters are written as JSON escapes, which have the same meaning.
enum FormJSON {
    /// The largest JSON to indent, in bytes. A description may have at most ten times as much, including white space.
    private static let mostIndented = 100 << 10

    /// Returns JSON text for editing, indented unless that would make it too large for the parser.
    static func editable(_ json: [UInt8]) -> String {
        if json.count <= mostIndented {
            let lines = IndentedJSON.lines(of: json)
            // In deeply nested JSON, white space is most of a line, and a browser ends lines with two characters.
            if lines.utf8.count <= 5 * mostIndented { return text(lines) }
        }
        return text(String(decoding: json, as: UTF8.self))
    }

    /// Escapes invisible characters as JSON does. It expects none outside of strings but line feeds.
    static func text(_ json: String) -> String {
        var shown = ""
        for scalar in json.unicodeScalars {
            // No text of valid JSON has these as they are: they stand between its tokens.
            if scalar == "\t" || scalar == "\r" {
                shown.unicodeScalars.append(" ")
            } else if scalar.isUnseen, scalar != "\n" {
                for unit in String(scalar).utf16 {
                    let hex = String(unit, radix: 16)
                    shown += "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
                }
            } else {
                shown.unicodeScalars.append(scalar)
            }
        }
        return shown
    }
}
