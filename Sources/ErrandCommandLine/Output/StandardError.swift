import Foundation

/// Lines for people, on standard error.
package enum StandardError {
    /// Writes a line. Control characters that could play tricks on a terminal are shown escaped.
    package static func write(_ line: String) {
        OutputDescriptor.standardError.write(Array((line.terminalSafe + "\n").utf8))
    }

    /// Writes text as it is, without a line's end: for what steers a terminal on purpose.
    package static func write(raw text: String) {
        OutputDescriptor.standardError.write(Array(text.utf8))
    }
}

/// Lines for programs and people, on standard output.
package enum StandardOutput {
    /// Writes a line at once, so that a reader sees it as it comes.
    package static func write(_ line: String) {
        write(Array(line.utf8))
    }

    /// Writes a line of bytes at once.
    package static func write(_ line: [UInt8]) {
        OutputDescriptor.standardOutput.write(line + [UInt8(ascii: "\n")])
    }

    /// Writes bytes as they are, without a line's end.
    package static func write(raw bytes: [UInt8]) {
        OutputDescriptor.standardOutput.write(bytes)
    }
}
