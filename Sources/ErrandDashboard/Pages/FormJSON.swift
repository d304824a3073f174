import ErrandOperator

/// JSON as it stands in a form, to be sent back: what cannot be seen is written so that it can, and means the same.
enum FormJSON {
    /// Up to here it is laid out over lines; a description may have no more than ten times as much, white space and all.
    private static let mostIndented = 100 << 10

    /// JSON text to be edited: over lines, unless it would be too large for what reads it afterwards.
    static func editable(_ json: [UInt8]) -> String {
        if json.count <= mostIndented {
            let lines = IndentedJSON.lines(of: json)
            // Deep inside, white space is most of a line; and a browser ends lines with two characters.
            if lines.utf8.count <= 5 * mostIndented { return text(lines) }
        }
        return text(String(decoding: json, as: UTF8.self))
    }

    /// Writes unseen characters as JSON does; outside of its texts there are none but line feeds and spaces.
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
