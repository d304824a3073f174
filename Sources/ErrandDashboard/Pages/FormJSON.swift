/// JSON as it stands in a form, to be sent back: what cannot be seen is written so that it can, and means the same.
enum FormJSON {
    /// Writes unseen characters as JSON does; outside of its texts there are none but line feeds and spaces.
    static func text(_ json: String) -> String {
        var shown = ""
        for scalar in json.unicodeScalars {
            if scalar.isUnseen, scalar != "\n" {
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
