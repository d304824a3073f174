import Errand
import ErrandOperator
import Foundation

/// The jobs that a page of jobs shows, as requested in its URL.
struct JobsRequest: Sendable {
    static let states: [JobState] = [
        .ready, .scheduled, .running, .retrying, .deferred, .blocked, .dead, .finished, .cancelled, .replaced,
        .expired, .skipped,
    ]

    let queue: String?
    let state: JobState?
    let filter: JobFilter
    /// The place where the page begins, unless it lists dead jobs.
    let cursor: SearchCursor?
    /// The place where a page of dead jobs begins.
    let newest: NewestCursor?
    /// The time of a confirmation question about these jobs, in milliseconds since 1970 UTC; `nil` without a question,
    /// or if their end times select the jobs.
    let asked: Int64?
    /// The fields that select the jobs, without the cursor.
    let fields: FormFields

    static let keys = [
        "queue", "state", "operation", "name", "error", "group", "arguments", "tag", "worker", "since", "until",
    ]

    /// Parses the fields of a URL or a form.
    ///
    /// - Throws: `PageProblem` that names the invalid field.
    init(_ fields: FormFields, now: Int64 = Int64(Date().timeIntervalSince1970 * 1000)) throws {
        if let name = fields["queue"], !QueueName.isValid(name) { throw PageProblem.notAQueue(name) }
        queue = fields["queue"]
        state = try fields["state"].map { text in
            guard let state = JobState(rawValue: text), Self.states.contains(state) else {
                throw PageProblem.bad("there is no state of that name")
            }
            return state
        }
        filter = JobFilter(
            operationContains: fields["operation"],
            nameContains: fields["name"],
            errorContains: fields["error"],
            errorPattern: fields["group"],
            argumentsContain: fields["arguments"],
            tag: fields["tag"],
            from: try fields["since"].map { try Self.time($0, now) },
            until: try fields["until"].map { try Self.time($0, now) },
            worker: fields["worker"]
        )
        let from = fields["from"]
        cursor = state == .dead ? nil : from.flatMap { SearchCursor($0) }
        newest = state == .dead ? from.flatMap { NewestCursor($0) } : nil
        if from != nil, cursor == nil, newest == nil { throw PageProblem.noSuchPosition }
        asked = try fields["asked"].map { try Self.time($0, now) }
        self.fields = Self.selecting(fields)
    }

    /// Keeps fields that are not valid, to show them to the user again. It selects no jobs with them.
    init(unchecked fields: FormFields) {
        state = fields["state"].flatMap(JobState.init).flatMap { Self.states.contains($0) ? $0 : nil }
        (queue, filter, cursor, newest, asked) = (nil, JobFilter(), nil, nil, nil)
        self.fields = Self.selecting(state == nil ? FormFields(fields.pairs.filter { $0.key != "state" }) : fields)
    }

    /// Returns the fields that select jobs. If a key occurs several times, only its first value counts.
    private static func selecting(_ fields: FormFields) -> FormFields {
        FormFields(keys.compactMap { key in fields[key].map { (key, $0) } })
    }

    var states: [JobState] { state.map { [$0] } ?? JobSearch.unfinished }

    /// The path of the page that shows the jobs.
    var place: String { Self.place(fields) }

    /// Returns the path of the page with the jobs in another state, or in all that have not ended.
    func place(in state: JobState?) -> String {
        // Errors by group are those of dead jobs.
        let others = fields.pairs.filter { !["state", "group"].contains($0.key) }
        return Self.place(FormFields(others + (state.map { [("state", $0.rawValue)] } ?? [])))
    }

    /// The path of the page with the jobs of all groups.
    var placeWithoutGroup: String { Self.place(FormFields(fields.pairs.filter { $0.key != "group" })) }

    /// Returns the path of the page with a message at its top.
    func place(notice: String) -> String {
        Self.place(FormFields(fields.pairs + [("notice", notice)]))
    }

    private static func place(_ fields: FormFields) -> String {
        "/jobs" + (fields.pairs.isEmpty ? "" : "?\(fields.query)")
    }

    /// Returns the fields that select the dead jobs of a group.
    func fields(ofGroup pattern: String) -> FormFields {
        FormFields(fields.pairs.filter { $0.key != "group" } + [("group", pattern)])
    }

    /// The actions that apply to jobs in the state of the page.
    var actions: [BulkAction] { BulkAction.allCases.filter { action in state.map(action.states.contains) ?? true } }

    /// Returns the queues to search: every one if none is named.
    func queues(on dashboard: ErrandDashboard) async throws -> [String] {
        if let queue { [queue] } else { try await dashboard.queues.names() }
    }

    /// Describes the jobs for a question.
    func question(_ states: [JobState]) -> String {
        Self.words(for: states) + (filter.errorPattern.map { " with the error “\($0)”" } ?? "")
    }

    private static func words(for states: [JobState]) -> String {
        "in the state\(states.count == 1 ? "" : "s") \(states.map(\.rawValue).joined(separator: ", "))"
    }

    /// Describes the jobs for the log of actions.
    func words(_ states: [JobState]) -> String {
        let filter = FormFields(fields.pairs.filter { !["queue", "state"].contains($0.key) }).query
        return "\(Self.words(for: states)) of \(queue ?? "every queue")"
            + (filter.isEmpty ? "" : " with \(filter)")
    }

    /// Makes the search; in every queue if none is named.
    func search(on dashboard: ErrandDashboard, states: [JobState]? = nil) async throws -> JobSearch {
        JobSearch(dashboard.broker, in: try await queues(on: dashboard), states ?? self.states, for: filter)
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
