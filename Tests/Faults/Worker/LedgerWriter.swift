import Errand
import Foundation

/// Appends lines to a file that several processes share: one `write` a line, so that lines never mix.
final class LedgerWriter: Sendable {
    private let file: Int32

    init(_ path: String) throws {
        file = open(path, O_WRONLY | O_APPEND | O_CLOEXEC)
        guard file >= 0 else { throw CocoaError(.fileNoSuchFile) }
    }

    /// What happened, to which claim, when (milliseconds since 1970 by this process's clock), in which process.
    func write(_ what: String, _ job: JobContext, _ more: String = "") {
        let now = Int64(Date().timeIntervalSince1970 * 1000)
        let pid = ProcessInfo.processInfo.processIdentifier
        var line = "\(what) \(job.id) \(job.token) \(now) \(pid) \(job.attempt)\(more.isEmpty ? "" : " " + more)\n"
        line.withUTF8 { bytes in _ = Foundation.write(file, bytes.baseAddress, bytes.count) }
    }
}
