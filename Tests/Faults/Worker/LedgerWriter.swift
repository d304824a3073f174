import Errand
import Foundation

/// Appends lines to a file that several processes share: one `write` at a time, so that lines never mix.
final class LedgerWriter: Sendable {
    private let file: Int32

    init(_ path: String) throws {
        file = open(path, O_WRONLY | O_APPEND | O_CLOEXEC)
        guard file >= 0 else { throw CocoaError(.fileNoSuchFile) }
    }

    /// What happened, to which claim, when (milliseconds since 1970 by this process's clock), in which process.
    func write(_ what: String, _ job: JobContext) {
        append(Self.line(what, job.id, job.token, job.attempt) + "\n")
    }

    /// What the broker said of reports: whether they counted, or came too late to.
    func write(_ reports: [OutcomeReport], counted: [Bool]) {
        let lines = zip(reports, counted).map { report, counts in
            let line = Self.line(counts ? "acked" : "refused", report.id, report.token, report.attempt)
            return line + " \(report.verb.rawValue)\n"
        }
        if !lines.isEmpty { append(lines.joined()) }
    }

    private static func line(_ what: String, _ id: String, _ token: Token, _ attempt: Int) -> String {
        let now = Int64(Date().timeIntervalSince1970 * 1000)
        let pid = ProcessInfo.processInfo.processIdentifier
        return "\(what) \(id) \(token) \(now) \(pid) \(attempt)"
    }

    private func append(_ text: String) {
        var text = text
        text.withUTF8 { bytes in _ = Foundation.write(file, bytes.baseAddress, bytes.count) }
    }
}
