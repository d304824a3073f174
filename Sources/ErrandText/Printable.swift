extension String {
    /// The text on one line, with control characters, escape sequences and direction overrides written as `\u{…}`: what
    /// a stranger wrote gets into errors and logs, and from there to terminals, which it must not steer.
    package var printable: String { printable(keeping: nil) }

    /// ``printable``, but line feeds stay.
    package var printableLines: String { printable(keeping: "\n") }

    private func printable(keeping kept: Unicode.Scalar?) -> String {
        // Nearly every text is plain ASCII.
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
    /// Whether a terminal acts on it instead of showing it, or shows nothing or the next text elsewhere.
    fileprivate var steersTerminals: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned: true
        default: false
        }
    }
}
