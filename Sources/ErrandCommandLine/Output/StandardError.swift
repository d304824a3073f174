import Foundation
package import Logging
import Synchronization

/// Lines for people, on standard error.
package enum StandardError {
    private static let label = Mutex<String?>(nil)

    /// Writes all further lines as entries of a JSON log, for programs that read standard error as one.
    package static func writeEntries(of label: String) { Self.label.withLock { $0 = label } }

    /// Whether lines are entries of a JSON log, which must contain nothing else.
    package static var writesEntries: Bool { label.withLock { $0 != nil } }

    /// Writes a line. Escapes control characters that could manipulate a terminal, and removes passwords from URLs.
    ///
    /// - Parameters:
    ///   - line: The text.
    ///   - level: The level of its entry, unless the line begins with `error: ` or `warning: `.
    package static func write(_ line: String, as level: Logger.Level = .info) {
        write(raw: Self.line(line, as: level))
    }

    /// Returns a line with its line feed, in the form in which it is written.
    static func line(_ line: String, as level: Logger.Level) -> String {
        let line = line.withoutURLPasswords
        guard let label = label.withLock({ $0 }) else { return line.terminalSafe + "\n" }
        for said in [Logger.Level.error, .warning] where line.hasPrefix("\(said.rawValue): ") {
            return JSONLogHandler.entry(said, label, "\(line.dropFirst(said.rawValue.count + 2))")
        }
        return JSONLogHandler.entry(level, label, line)
    }

    /// Writes text unchanged, without a line feed: for control sequences of a terminal.
    package static func write(raw text: String) {
        let bytes = Array(text.utf8)
        if Daemon.isOne { Daemon.standardError.add(bytes) } else { _ = OutputDescriptor.standardError.write(bytes) }
    }
}

/// Lines for programs and people, on standard output. A command whose output cannot be written ends with an error: a
/// part must not pass for the whole.
package enum StandardOutput {
    /// Writes a line immediately, so that a reader sees it at once.
    package static func write(_ line: String) {
        write(Array(line.utf8))
    }

    /// Writes a line of bytes immediately.
    package static func write(_ line: [UInt8]) {
        write(raw: line + [UInt8(ascii: "\n")])
    }

    /// Writes bytes unchanged, without a line feed.
    package static func write(raw bytes: [UInt8]) {
        let error = OutputDescriptor.standardOutput.write(bytes)
        if error != 0 { OutputDescriptor.end(because: error) }
    }

    /// Writes a line for an optional reader, in a daemon without waiting. The process does not end if there is no
    /// reader.
    package static func tell(_ line: [UInt8]) {
        let bytes = line + [UInt8(ascii: "\n")]
        signal(SIGPIPE, SIG_IGN)
        if Daemon.isOne { Daemon.standardOutput.add(bytes) } else { _ = OutputDescriptor.standardOutput.write(bytes) }
    }
}
