import Errand
import ErrandOperator
import ErrandText

/// The values of a job in a list: two lines, of which the second has the name and the error, if there are any.
///
/// Optional parts are lists with at most one element: a template takes a missing value from the values around it.
struct JobRow {
    private static let shownOfID = 9
    private static let shownOfLine = 300
    private static let shownOfError = 4000

    let job: JobSummary
    let moments: MomentView
    var retries = DefaultRetries()

    var values: [String: Any] {
        [
            "id": job.record.id, "shortID": Self.short(id: job.record.id), "queue": job.queue,
            "state": job.record.state.rawValue, "operation": job.operation?.shortened(to: Self.shownOfLine) ?? "–",
            "attempts": attempt.map { [["words": $0]] } ?? [], "times": time.map { [$0] } ?? [],
            "names": job.name.map { [["name": $0.shortened(to: Self.shownOfLine)]] } ?? [],
            "errors": error.map { [$0] } ?? [], "runsOn": worker.map { [$0] } ?? [],
            "tags": job.tags.map { ["tag": $0, "query": query(of: $0)] },
            "inGroups": inGroups,
            "progress": job.progress.map { [["words": $0.shortened(to: Self.shownOfLine)]] } ?? [],
        ]
    }

    /// Returns the part of a long id that differs from those of other jobs.
    ///
    /// The ids that Errand makes begin with years and end with what is the same for all jobs of a process, so it is the
    /// low digits of the time and the counter between them. Of other ids it is the end.
    static func short(id: String) -> String {
        if JobIDGenerator.time(of: id) != nil { return "…\(id.dropFirst(5).prefix(shownOfID))…" }
        return id.count > shownOfID + 2 ? "…\(id.suffix(shownOfID))" : id
    }

    /// The fields of the list with this tag: a list without a state has no ended jobs.
    private func query(of tag: String) -> String {
        let state = job.record.state
        let hasOwnList = !JobSearch.unfinished.contains(state)
        return FormFields([("tag", tag)] + (hasOwnList ? [("state", state.rawValue)] : [])).query
    }

    private var inGroups: [[String: Any]] {
        job.group.map { [["group": $0, "groupPlace": FormFields.encode($0)]] } ?? []
    }

    private var attempt: String? {
        guard let attempt = job.attempt, attempt > 0 else { return nil }
        return "attempt \(attempt)" + (job.mostAttempts(retries).map { "/\($0)" } ?? "")
    }

    private var time: [String: Any]? { job.time.map { moments.relative($0, Self.event(of: job.record.state)) } }

    private static func event(of state: JobState) -> String {
        switch state {
        case .ready: "ready since"
        case .scheduled, .retrying: "due"
        case .running: "started"
        case .deferred, .blocked: "pushed"
        case .dead: "died"
        case .finished, .cancelled, .replaced, .expired, .skipped, .deleted: "ended"
        }
    }

    private var error: [String: Any]? {
        job.error.map { error in
            let line = error.split(whereSeparator: \.isNewline).first.map(String.init) ?? error
            return ["line": line.shortened(to: Self.shownOfLine), "text": error.shortened(to: Self.shownOfError)]
        }
    }

    /// Ended jobs name a worker, too, but that worker may be gone.
    private var worker: [String: Any]? {
        guard job.record.state == .running, let worker = job.worker else { return nil }
        return ["worker": worker, "place": FormFields.encode(worker)]
    }
}
