extension String {
    /// The text with control characters and direction overrides written as `\u{…}`, so that job data cannot steer a
    /// terminal.
    package var terminalSafe: String {
        var safe = ""
        for scalar in unicodeScalars {
            switch scalar.value {
            case 0x0A: safe.unicodeScalars.append(scalar)
            case 0..<0x20, 0x7F..<0xA0, 0x200B...0x200F, 0x2028...0x202E, 0x2066...0x2069, 0xFEFF:
                safe += "\\u{\(String(scalar.value, radix: 16))}"
            default: safe.unicodeScalars.append(scalar)
            }
        }
        return safe
    }

    /// ``terminalSafe`` on one line of at most `limit` characters; what is cut off leaves an ellipsis.
    package func onOneLine(atMost limit: Int = .max) -> String {
        let line = terminalSafe.replacing("\n", with: "\\n")
        return line.count <= limit ? line : line.prefix(max(0, limit - 1)) + "…"
    }
}
