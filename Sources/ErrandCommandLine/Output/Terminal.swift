import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// What is at the other end of the standard streams.
package enum Terminal {
    /// Whether a person may write on standard input.
    package static var writesStandardInput: Bool { isatty(STDIN_FILENO) == 1 }

    /// Whether a person reads standard output as it comes.
    package static var readsStandardOutput: Bool { isatty(STDOUT_FILENO) == 1 }

    /// Whether a person reads standard error as it comes.
    package static var readsStandardError: Bool { isatty(STDERR_FILENO) == 1 }

    /// Whether standard output takes colours: a terminal, and nobody said `NO_COLOR`.
    package static var takesColours: Bool {
        let environment = ProcessInfo.processInfo.environment
        return readsStandardOutput && environment["NO_COLOR"]?.isEmpty != false && environment["TERM"] != "dumb"
    }
}

/// A colour of a terminal.
package enum Colour: String, Sendable {
    /// Headings.
    case bold = "1"
    /// What matters less.
    case faint = "2"
    /// What went wrong.
    case red = "31"
    /// What went well.
    case green = "32"
    /// What may want a look.
    case yellow = "33"

    /// The text in this colour, or as it is when colours are off.
    package func painted(_ text: String, on: Bool = Terminal.takesColours) -> String {
        on && !text.isEmpty ? "\u{1b}[\(rawValue)m\(text)\u{1b}[0m" : text
    }
}
