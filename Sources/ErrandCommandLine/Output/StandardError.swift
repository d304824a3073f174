import Foundation
package import Logging
import Synchronization

/// Lines for people, on standard error.
package enum StandardError {
    private static let label = Mutex<String?>(nil)

    /// Makes entries of a JSON log out of the lines from now on, for whoever reads standard error as one.
    package static func writeEntries(of label: String) { Self.label.withLock { $0 = label } }

    /// Whether lines are entries of a JSON log, between which nothing else may stand.
    package static var writesEntries: Bool { label.withLock { $0 != nil } }

    /// Writes a line. Control characters that could play tricks on a terminal are shown escaped, passwords of URLs not at all.
    ///
    /// - Parameters:
    ///   - line: what is said.
    ///   - level: the level of its entry, where it does not say so itself by `error: ` or `warning: ` in front.
    package static func write(_ line: String, as level: Logger.Level = .info) {
        write(raw: Self.line(line, as: level))
    }

    /// A line with its end, as it is written.
    static func line(_ line: String, as level: Logger.Level) -> String {
        let line = line.withoutURLPasswords
        guard let label = label.withLock({ $0 }) else { return line.terminalSafe + "\n" }
        for said in [Logger.Level.error, .warning] where line.hasPrefix("\(said.rawValue): ") {
            return JSONLogHandler.entry(said, label, "\(line.dropFirst(said.rawValue.count + 2))")
        }
        return JSONLogHandler.entry(level, label, line)
    }

    /// Writes text as it is, without a line's end: for what steers a terminal on purpose.
    package static func write(raw text: String) {
        let bytes = Array(text.utf8)
        if Daemon.isOne { Daemon.standardError.add(bytes) } else { _ = OutputDescriptor.standardError.write(bytes) }
    }
}

/// Lines for programs and people, on standard output. A command whose output cannot be written ends by that: a part must not pass for
/// the whole.
package enum StandardOutput {
    /// Writes a line at once, so that a reader sees it as it comes.
    package static func write(_ line: String) {
        write(Array(line.utf8))
    }

    /// Writes a line of bytes at once.
    package static func write(_ line: [UInt8]) {
        write(raw: line + [UInt8(ascii: "\n")])
    }

    /// Writes bytes as they are, without a line's end.
    package static func write(raw bytes: [UInt8]) {
        let error = OutputDescriptor.standardOutput.write(bytes)
        if error != 0 { OutputDescriptor.end(because: error) }
    }

    /// Writes a line for whoever listens, which a daemon does without waiting. That nobody does is no reason to end.
    package static func tell(_ line: [UInt8]) {
        let bytes = line + [UInt8(ascii: "\n")]
        signal(SIGPIPE, SIG_IGN)
        if Daemon.isOne { Daemon.standardOutput.add(bytes) } else { _ = OutputDescriptor.standardOutput.write(bytes) }
    }
}
