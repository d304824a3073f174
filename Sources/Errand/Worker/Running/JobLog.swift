import ErrandText
import Logging
import Synchronization

/// Logs what happens to jobs in a worker: a failed or timed out run that is retried as a warning, a dead job as an error,
/// a released, cancelled, lost or recovered one as a notice, and, only if that is wanted, a finished one as information.
///
/// When everything fails, a line for each run would hide everything else and slow the worker down. So each level has 20
/// lines at once and 2 more a second, and the next line says how many were left out.
final class JobLog: Sendable {
    private struct Allowance {
        var lines = JobLog.most
        var since: ContinuousClock.Instant?
        var leftOut = 0
    }

    private static let most = 20.0
    private static let perSecond = 2.0

    private let logger: Logger
    private let hasFinished: Bool
    private let allowances = Mutex<[Logger.Level: Allowance]>([:])

    /// Makes a log.
    ///
    /// - Parameter hasFinished: Whether each finished job has a line, too. These lines are not limited.
    init(_ logger: Logger, hasFinished: Bool) {
        self.logger = logger
        self.hasFinished = hasFinished
    }

    /// Logs the ending of a run.
    ///
    /// - Parameter retryDelay: The delay before the next run in milliseconds, if there is one.
    func ended(_ run: JobRun, _ ending: RunEnding, retryDelay: Int?) {
        guard let (level, message) = line(for: ending, retryDelay) else { return }
        write(level, message, run.queue) {
            $0["job.id"] = "\(run.id)"
            $0["job.operation"] = "\(run.operation.name)"
            $0["job.attempt"] = "\(run.attempt)"
            if ending.status == .succeeded { $0["job.ms"] = "\(ending.duration.wholeMilliseconds)" }
            if let error = ending.error { $0["error"] = "\(Self.clipped(error))" }
        }
    }

    /// Logs that a job is dead because this worker cannot read it.
    func unreadable(_ id: String, in queue: String, because reason: String) {
        write(.error, "job cannot be read and is dead", queue) {
            $0["job.id"] = "\(id)"
            $0["error"] = "\(Self.clipped(reason))"
        }
    }

    /// Logs that jobs of other workers were recovered: their number, and each of them with its lost worker.
    func recovered(_ recovery: Recovery, in queue: String) {
        write(.notice, "jobs of lost workers recovered", queue) { $0["jobs"] = "\(recovery.recovered)" }
        for event in recovery.events {
            write(.notice, "job recovered from a lost worker", queue) {
                for (key, value) in [
                    ("job.id", event.id), ("job.operation", event.operation), ("lost.worker.id", event.worker),
                ] {
                    $0[key] = value.map { "\(Self.clipped($0))" }
                }
                $0["job.attempt"] = event.attempt.map { "\($0)" }
            }
        }
    }

    private func line(for ending: RunEnding, _ retryDelay: Int?) -> (Logger.Level, String)? {
        let what = ending.timedOut ? "timed out" : "failed"
        switch ending.status {
        case .succeeded: return hasFinished ? (.info, "job finished") : nil
        case .retried:
            let delay = TimeSpanText.rounded(Int64(retryDelay ?? 0))
            return (.warning, "job \(what); it runs again in \(delay)")
        case .failed: return (.error, "job \(what) and is dead")
        case .cancelled: return (.notice, "job cancelled")
        case .released: return (.notice, "job released; it spends no attempt")
        case .lost: return (.notice, "job left to another worker, because the session was lost")
        default: return nil
        }
    }

    private static func clipped(_ error: String) -> String { error.printable.clipped(toUTF8: 500) }

    private func write(
        _ level: Logger.Level,
        _ message: String,
        _ queue: String,
        _ describe: (inout Logger.Metadata) -> Void
    ) {
        guard logger.logLevel <= level, let leftOut = level == .info ? 0 : allow(level, .now) else { return }
        var metadata: Logger.Metadata = ["job.queue": "\(queue)"]
        describe(&metadata)
        if leftOut > 0 { metadata["lines_left_out"] = "\(leftOut)" }
        logger.log(level: level, "\(message)", metadata: metadata)
    }

    /// Returns the number of lines of this level that were left out before this one; `nil` to leave it out.
    private func allow(_ level: Logger.Level, _ now: ContinuousClock.Instant) -> Int? {
        allowances.withLock { allowances in
            var allowance = allowances[level] ?? Allowance()
            defer { allowances[level] = allowance }
            if let since = allowance.since {
                allowance.lines = min(Self.most, allowance.lines + (now - since) / .seconds(1) * Self.perSecond)
            }
            allowance.since = now
            guard allowance.lines >= 1 else {
                allowance.leftOut += 1
                return nil
            }
            allowance.lines -= 1
            defer { allowance.leftOut = 0 }
            return allowance.leftOut
        }
    }
}
