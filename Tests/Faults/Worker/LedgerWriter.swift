import Errand
import Foundation

/// Appends lines to a file that several processes share, one `write` at a time, so that lines never mix. A line is
/// complete if it ends with a full stop: without memory, only a part may be written, and the line is written again.
final class LedgerWriter: Sendable {
    private let file: Int32

    init(_ path: String) throws {
        file = open(path, O_WRONLY | O_APPEND | O_CLOEXEC)
        guard file >= 0 else { throw CocoaError(.fileNoSuchFile) }
    }

    /// The action, the claim, the time (milliseconds since 1970 by this process's clock), and the process.
    func write(_ what: String, _ job: JobContext) {
        append(Self.line(what, job.id, job.token, job.attempt) + " .\n")
    }

    /// The outcomes of reports: accepted or stale.
    func write(_ reports: [OutcomeReport], counted: [Bool]) {
        for (report, counts) in zip(reports, counted) {
            let line = Self.line(counts ? "acked" : "refused", report.id, report.token, report.attempt)
            append(line + " \(report.verb.rawValue) .\n")
        }
    }

    private static func line(_ what: String, _ id: String, _ token: Token, _ attempt: Int) -> String {
        let now = Int64(Date().timeIntervalSince1970 * 1000)
        let pid = ProcessInfo.processInfo.processIdentifier
        return "\(what) \(id) \(token) \(now) \(pid) \(attempt)"
    }

    private func append(_ text: String) {
        var text = text
        while true {
            let written = text.withUTF8 { Foundation.write(file, $0.baseAddress, $0.count) }
            if written == text.utf8.count { return }
            if written > 0, !text.hasPrefix("\n") { text = "\n" + text }
            // An unrecorded action would look as if it had not happened.
            guard written > 0 || [EINTR, EAGAIN, ENOMEM].contains(errno) else { fatalError("ledger: errno \(errno)") }
        }
    }
}
