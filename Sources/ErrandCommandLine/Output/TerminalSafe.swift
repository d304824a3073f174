import ErrandText

extension String {
    /// The text with control characters and direction overrides written as `\u{…}`, so that job data cannot manipulate
    /// a terminal. Line feeds stay.
    package var terminalSafe: String { printableLines }

    /// Returns ``terminalSafe`` on one line of at most `limit` characters; longer text ends with an ellipsis.
    package func onOneLine(atMost limit: Int = .max) -> String {
        let line = terminalSafe.replacing("\n", with: "\\n")
        return line.count <= limit ? line : line.prefix(max(0, limit - 1)) + "…"
    }
}
