import Errand
import ErrandOperator
import Foundation

/// The jobs that a page of jobs shows, as requested in its URL.
struct JobsRequest: Sendable {
    static let states: [JobState] = [
        .ready, .scheduled, .running, .retrying, .deferred, .dead, .finished, .cancelled, .replaced,
    ]

    let queue: String?
    let state: JobState?
    let filter: JobFilter
    let cursor: SearchCursor?
    /// The time of a confirmation question about these jobs, in milliseconds since 1970 UTC; `nil` without a question,
    /// or if their end times select the jobs.
    let asked: Int64?
    /// The fields that select the jobs, without the cursor.
    let fields: FormFields

    static let keys = ["queue", "state", "operation", "name", "error", "worker", "since", "until"]

    /// Parses the fields of a URL or a form.
    ///
    /// - Throws: `PageProblem` that names the invalid field.
    init(_ fields: FormFields, now: Int64 = Int64(Date().timeIntervalSince1970 * 1000)) throws {
        if let name = fields["queue"], !QueueName.isValid(name) { throw PageProblem.bad("that is no queue's name") }
        queue = fields["queue"]
        state = try fields["state"].map { text in
            guard let state = JobState(rawValue: text), Self.states.contains(state) else {
                throw PageProblem.bad("there is no state of that name")
            }
            return state
        }
        filter = JobFilter(
            operation: fields["operation"],
            nameContains: fields["name"],
            errorContains: fields["error"],
            from: try fields["since"].map { try Self.time($0, now) },
            until: try fields["until"].map { try Self.time($0, now) },
            worker: fields["worker"]
        )
        cursor = try fields["from"].map { text in
            guard let cursor = SearchCursor(text) else { throw PageProblem.bad("that is not a valid position") }
            return cursor
        }
        asked = try fields["asked"].map { try Self.time($0, now) }
        self.fields = FormFields(fields.pairs.filter { Self.keys.contains($0.key) && !$0.value.isEmpty })
    }

    var states: [JobState] { state.map { [$0] } ?? JobSearch.unfinished }

    /// The path of the page that shows the jobs.
    var place: String { "/jobs" + (fields.pairs.isEmpty ? "" : "?\(fields.query)") }

    /// Describes the jobs for the log of actions.
    func words(_ states: [JobState]) -> String {
        let filter = FormFields(fields.pairs.filter { !["queue", "state"].contains($0.key) }).query
        return "in the states \(states.map(\.rawValue).joined(separator: ", ")) of \(queue ?? "every queue")"
            + (filter.isEmpty ? "" : " with \(filter)")
    }

    /// Makes the search; in every queue if none is named.
    func search(on dashboard: ErrandDashboard, states: [JobState]? = nil) async throws -> JobSearch {
        let queues = if let queue { [queue] } else { try await dashboard.queues.names() }
        return JobSearch(dashboard.broker, in: queues, states ?? self.states, for: filter)
    }

    /// Returns the fields with present times, for a question that may be answered an hour later about the jobs that
    /// match now. For states of ended jobs, `until` excludes those that end later. For other states, `asked` excludes
    /// jobs that are pushed later, which the search cannot exclude by their times.
    func fieldsOfNow(_ states: [JobState], now: Int64 = Int64(Date().timeIntervalSince1970 * 1000)) -> FormFields {
        let haveEnded = states.allSatisfy(\.hasEnded)
        let times = [("since", filter.from), ("until", filter.until ?? (haveEnded ? now : nil))]
        let others = fields.pairs.filter { !["since", "until"].contains($0.key) }
        let moments = times + [("asked", haveEnded ? nil : now)]
        return FormFields(others + moments.compactMap { key, time in time.map { (key, Timestamp.text($0)) } })
    }

    /// Parses a time, or an age such as `2h`.
    private static func time(_ text: String, _ now: Int64) throws -> Int64 {
        guard let time = TimeOrAge(text) else { throw PageProblem.bad("write times as 2h, or as 2026-11-21T10:00:00Z") }
        return time.milliseconds(before: now)
    }
}
