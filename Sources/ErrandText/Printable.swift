extension String {
    /// The text on one line, with control characters, escape sequences and direction overrides written as `\u{…}`.
    /// Untrusted text gets into errors and logs, and from there to terminals, which it must not manipulate.
    package var printable: String { printable(keeping: nil) }

    /// The text as in ``printable``, but with its line feeds.
    package var printableLines: String { printable(keeping: "\n") }

    private func printable(keeping kept: Unicode.Scalar?) -> String {
        // Nearly all texts are plain ASCII.
        if utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) { return self }
        var safe = ""
        for scalar in unicodeScalars {
            if scalar == kept || !scalar.steersTerminals {
                safe.unicodeScalars.append(scalar)
            } else {
                safe += "\\u{\(String(scalar.value, radix: 16))}"
            }
        }
        return safe
    }
}

extension Unicode.Scalar {
    /// Whether a terminal interprets the character instead of showing it, shows nothing, or shows the following text
    /// elsewhere.
    fileprivate var steersTerminals: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned: true
        default: false
        }
    }
}
