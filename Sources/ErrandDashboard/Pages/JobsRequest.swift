import Errand
import ErrandOperator
import Foundation

/// Which jobs a page of jobs shows, as its address says.
struct JobsRequest: Sendable {
    static let states: [JobState] = [
        .ready, .scheduled, .running, .retrying, .deferred, .dead, .finished, .cancelled, .replaced,
    ]

    let queue: String?
    let state: JobState?
    let filter: JobFilter
    let cursor: SearchCursor?
    /// When a question about these jobs was asked, in milliseconds since 1970 UTC; `nil` when there was none, or when it went by
    /// the time that they ended.
    let asked: Int64?
    /// The fields that say which jobs, without where to go on.
    let fields: FormFields

    static let keys = ["queue", "state", "operation", "name", "error", "worker", "since", "until"]

    /// Reads the fields of an address or of a form.
    ///
    /// - Throws: `PageProblem` that says which field is wrong.
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
            guard let cursor = SearchCursor(text) else { throw PageProblem.bad("that is no place to go on from") }
            return cursor
        }
        asked = try fields["asked"].map { try Self.time($0, now) }
        self.fields = FormFields(fields.pairs.filter { Self.keys.contains($0.key) && !$0.value.isEmpty })
    }

    var states: [JobState] { state.map { [$0] } ?? JobSearch.unfinished }

    /// The address of the page that shows them.
    var place: String { "/jobs" + (fields.pairs.isEmpty ? "" : "?\(fields.query)") }

    /// Which jobs, for the log of actions.
    func words(_ states: [JobState]) -> String {
        let filter = FormFields(fields.pairs.filter { !["queue", "state"].contains($0.key) }).query
        return "in the states \(states.map(\.rawValue).joined(separator: ", ")) of \(queue ?? "every queue")"
            + (filter.isEmpty ? "" : " with \(filter)")
    }

    /// The search; in every queue unless one is named.
    func search(on broker: any Broker, states: [JobState]? = nil) async throws -> JobSearch {
        let queues = if let queue { [queue] } else { try await broker.queues() }
        return JobSearch(broker, in: queues, states ?? self.states, for: filter)
    }

    /// The fields with times as they are now, for a question that may be answered in an hour: it is about the jobs that match now. Jobs
    /// that die or end later do not belong to it either, nor what is pushed later, which the search cannot tell by their times.
    func fieldsOfNow(_ states: [JobState], now: Int64 = Int64(Date().timeIntervalSince1970 * 1000)) -> FormFields {
        let haveEnded = states.allSatisfy(\.hasEnded)
        let times = [("since", filter.from), ("until", filter.until ?? (haveEnded ? now : nil))]
        let others = fields.pairs.filter { !["since", "until"].contains($0.key) }
        let moments = times + [("asked", haveEnded ? nil : now)]
        return FormFields(others + moments.compactMap { key, time in time.map { (key, Timestamp.text($0)) } })
    }

    /// A time, or how long ago: `2h`.
    private static func time(_ text: String, _ now: Int64) throws -> Int64 {
        if let time = try? Timestamp.parse(text) { return time }
        guard let age = Timestamp.age(text) else {
            throw PageProblem.bad("write times as 2h, or as 2026-11-21T10:00:00Z")
        }
        return max(0, now.subtractingReportingOverflow(age).partialValue)
    }
}
