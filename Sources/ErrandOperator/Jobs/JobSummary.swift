package import Errand
import ErrandText

/// A job as operators see it: what the broker says of it, what its description says, and what its last event says.
package struct JobSummary: Sendable {
    /// The queue that the job is in.
    package let queue: String
    /// What the broker says.
    package let record: JobRecord
    /// The job's description and since when it has been in line; `nil` when it has ended, or when it cannot be read.
    package let stored: StoredJob?
    /// Why the description cannot be read, where it cannot.
    package let unreadable: String?
    private let last: JobEvent?

    /// Reads what there is to read of a job.
    package init(_ record: JobRecord, in queue: String) {
        self.queue = queue
        self.record = record
        last = JobEvent(line: record.lastEvent)
        do throws(EnvelopeError) {
            stored = record.body.isEmpty ? nil : try JobEnvelope.read(stored: record.body)
            unreadable = nil
        } catch {
            stored = nil
            unreadable = "\(error)"
        }
    }

    /// The job's operation.
    package var operation: String? { stored?.description.operation ?? last?.operation }
    /// The job's name.
    package var name: String? { stored.map(\.description.name) ?? last?.name }
    /// Why it failed the last time.
    package var error: String? { unreadable ?? last?.error }
    /// The runs that did not succeed and are still known, the newest first.
    package var failedRuns: [JobEvent] {
        let lines = record.state.hasEnded && record.state != .dead ? record.events.dropFirst() : record.events[...]
        return lines.compactMap(JobEvent.init(line:))
    }
    /// The session that runs it, or ran it last.
    package var worker: String? { record.session ?? (record.state.hasEnded ? last?.worker : nil) }

    /// How many runs were begun and counted; of an ended job what its last event says.
    package var attempt: Int64? {
        if record.state.hasEnded, record.body.isEmpty { return last?.attempt }
        // A count that garbage made enormous must not overflow.
        return Int64(min(record.failures, 1_000_000)) + (record.state == .running ? 1 : 0)
    }

    /// How long its own description has it wait before each retry, for people; `nil` where that is left to the worker.
    package var backoff: String? {
        stored?.description.backoff.map { delays in
            "base \(TimeSpanText.exact(delays.base)), longest \(TimeSpanText.exact(delays.cap)), jitter \(delays.jitter)"
        }
    }

    /// Since when the job has been in line, in milliseconds since 1970 UTC.
    package var since: Int64? { record.state == .ready ? stored?.readySince : nil }

    /// The time that the job is listed with: since when it is in line, else when it is due, ended or died, else since when
    /// it was ready before it was claimed.
    package var time: Int64? { since ?? record.at ?? stored?.readySince }

    /// How far it is, for people, such as `40 %: resizing`; `nil` when it has not told.
    package var progress: String? {
        record.progress.map { progress in
            "\(Int((progress.fraction * 100).rounded())) %" + (progress.message.map { ": \($0)" } ?? "")
        }
    }

    /// What the job gave, when it has finished.
    package var result: String? { record.state == .finished ? String(decoding: record.result, as: UTF8.self) : nil }
}

extension JobSummary {
    /// The job as programs read it.
    ///
    /// - Parameters:
    ///   - withErrors: With the errors of all its runs.
    ///   - withArguments: With its arguments, which may be private.
    package func json(withErrors: Bool = false, withArguments: Bool = false) -> JSONOutput {
        var members: [(key: String, value: JSONOutput)] = [
            ("id", .text(record.id)), ("queue", .text(queue)), ("state", .text(record.state.rawValue)),
            ("operation", .text(orNull: operation)), ("name", .text(orNull: name)),
            ("priority", .number(orNull: stored.map { Int64($0.priority) })),
            ("attempt", .number(orNull: attempt)), ("failures", .count(record.failures)),
            ("crashes", .count(record.crashes)), ("since_ms", .number(orNull: since)),
            ("at_ms", .number(orNull: record.at)), ("worker", .text(orNull: worker)),
            ("error", .text(orNull: error)), ("result", .text(orNull: result)),
            ("progress", record.progress.map { .decimal($0.fraction) } ?? .null),
            ("progress_message", .text(orNull: record.progress?.message)),
        ]
        if withErrors { members.append(("errors", .list(failedRuns.map(\.json)))) }
        if withArguments {
            members.append(("arguments", stored.map { .written($0.description.arguments.bytes) } ?? .null))
        }
        return .object(members)
    }
}

extension JobEvent {
    /// A run that did not succeed, as programs read it.
    fileprivate var json: JSONOutput {
        .object([
            ("attempt", .number(orNull: attempt)), ("at_ms", .number(orNull: atMilliseconds)),
            ("worker", .text(orNull: worker)), ("duration_ms", .number(orNull: durationMilliseconds)),
            ("event", .text(orNull: event)), ("error", .text(orNull: error)),
        ])
    }
}
