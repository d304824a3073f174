import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The terminals of the standard streams.
package enum Terminal {
    /// Whether standard input is a terminal.
    package static var writesStandardInput: Bool { isatty(STDIN_FILENO) == 1 }

    /// Whether standard output is a terminal.
    package static var readsStandardOutput: Bool { isatty(STDOUT_FILENO) == 1 }

    /// Whether standard error is a terminal.
    package static var readsStandardError: Bool { isatty(STDERR_FILENO) == 1 }

    /// The number of characters in a line of standard output: that of `COLUMNS`, else of the terminal, else 80; `nil` if
    /// standard output is no terminal.
    package static var width: Int? {
        guard readsStandardOutput else { return nil }
        let named = ProcessInfo.processInfo.environment["COLUMNS"].flatMap { Int($0) }
        if let named, named > 0 { return named }
        var size = winsize()
        let isKnown = ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
        return isKnown ? Int(size.ws_col) : 80
    }

    /// Whether standard output takes colours: it is a terminal, and `NO_COLOR` is not set.
    package static var takesColours: Bool {
        let environment = ProcessInfo.processInfo.environment
        return readsStandardOutput && environment["NO_COLOR"]?.isEmpty != false && environment["TERM"] != "dumb"
    }
}

/// A colour of a terminal.
package enum Colour: String, Sendable {
    /// Headings.
    case bold = "1"
    /// Less important text.
    case faint = "2"
    /// Failures.
    case red = "31"
    /// Successes.
    case green = "32"
    /// Text that may need attention.
    case yellow = "33"

    /// Returns the text in this colour, or unchanged if colours are off.
    package func painted(_ text: String, on: Bool = Terminal.takesColours) -> String {
        on && !text.isEmpty ? "\u{1b}[\(rawValue)m\(text)\u{1b}[0m" : text
    }
}
