package import Errand
import ErrandText

/// A job as operators see it: the broker's record, the description and the last event.
package struct JobSummary: Sendable {
    /// The queue that the job is in.
    package let queue: String
    /// The broker's record of the job.
    package let record: JobRecord
    /// The job's description and the time at which it became ready; `nil` if the job has ended or its description
    /// cannot be read.
    package let stored: StoredJob?
    /// The reason why the description cannot be read; `nil` if it can.
    package let unreadable: String?
    private let last: JobEvent?

    /// Makes a summary from a record. A description that cannot be read becomes ``unreadable``.
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
    /// The job's tags.
    package var tags: [String] { stored?.description.tags ?? last?.tags ?? [] }
    /// The job's group; `nil` if it has none, or if the broker has no description of the job any more.
    package var group: String? { stored?.description.group }
    /// The error of the last run, or the reason why the description cannot be read.
    package var error: String? { unreadable ?? record.lastError }
    /// The runs that did not succeed and are still recorded, newest first.
    package var failedRuns: [JobEvent] {
        let lines = record.state.hasEnded && record.state != .dead ? record.events.dropFirst() : record.events[...]
        return lines.compactMap(JobEvent.init(line:))
    }
    /// The session that runs the job or ran it last.
    package var worker: String? { record.session ?? (record.state.hasEnded ? last?.worker : nil) }

    /// The number of runs that were started and counted; for an ended job the number in its last event.
    package var attempt: Int64? {
        if record.state.hasEnded, record.body.isEmpty { return last?.attempt }
        // A corrupt, huge count must not overflow.
        return Int64(min(record.failures, 1_000_000)) + (record.state == .running ? 1 : 0)
    }

    /// Returns the number of runs that the job's own description or else its worker permits; `nil` if it is not known.
    package func mostAttempts(_ defaults: DefaultRetries) -> Int? {
        let retries = stored.flatMap { $0.description.retries ?? defaults[$0.description.operation] }
        return retries.map { $0.addingReportingOverflow(1).partialValue }
    }

    /// The delays before retries in the job's own description, for people; `nil` if the worker decides.
    package var backoff: String? {
        stored?.description.backoff.map { delays in
            "base \(TimeSpanText.exact(delays.base)), longest \(TimeSpanText.exact(delays.longest)), jitter \(delays.jitter)"
        }
    }

    /// The time at which the job became ready, in milliseconds since 1970 UTC; `nil` unless it is ready.
    package var since: Int64? { record.state == .ready ? stored?.readySince : nil }

    /// When the job was pushed, if its id tells it; ids that Errand makes do.
    package var pushed: Int64? { JobIDGenerator.time(of: record.id) }

    /// How long the job has been running, for people; `nil` unless it is.
    package func running(at now: Int64) -> String? {
        record.claimedAt.map { claimed in
            let elapsed = TimeSpanText.rounded(max(0, now.subtractingReportingOverflow(claimed).partialValue))
            let timeout = stored?.description.timeout.map { ", timeout \(TimeSpanText.exact($0))" } ?? ""
            return "for \(elapsed), since \(Timestamp.text(claimed))\(timeout)"
        }
    }

    /// The time that lists show: when a ready job became ready, when a running one was claimed, else when the job is due,
    /// ended or died.
    package var time: Int64? { since ?? record.claimedAt ?? record.at ?? stored?.readySince }

    /// The job's progress for people, such as `40 %: resizing`; `nil` if it has reported none.
    package var progress: String? {
        record.progress.map { progress in
            "\(Int((progress.fraction * 100).rounded())) %" + (progress.message.map { ": \($0)" } ?? "")
        }
    }

    /// The job's result, if it has finished.
    package var result: String? { record.state == .finished ? String(decoding: record.result, as: UTF8.self) : nil }
}

extension JobSummary {
    /// Returns the job as JSON for programs.
    ///
    /// - Parameters:
    ///   - withErrors: Whether to include the errors of all runs.
    ///   - withArguments: Whether to include the arguments, which may be private.
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
            ("pushed_ms", .number(orNull: pushed)), ("claimed_ms", .number(orNull: record.claimedAt)),
            ("tags", .list(tags.map(JSONOutput.text))),
        ]
        if let workflow = stored?.description.workflow {
            members += [("workflow", .text(workflow.id.description)), ("workflow_key", .text(workflow.key))]
        }
        if withErrors { members.append(("errors", .list(failedRuns.map(\.json)))) }
        if withArguments {
            members.append(("arguments", stored.map { .written($0.description.arguments.bytes) } ?? .null))
        }
        return .object(members)
    }
}

extension JobEvent {
    /// A run that did not succeed, as JSON for programs.
    fileprivate var json: JSONOutput {
        .object([
            ("attempt", .number(orNull: attempt)), ("at_ms", .number(orNull: atMilliseconds)),
            ("worker", .text(orNull: worker)), ("duration_ms", .number(orNull: durationMilliseconds)),
            ("event", .text(orNull: event)), ("error", .text(orNull: error)),
        ])
    }
}
