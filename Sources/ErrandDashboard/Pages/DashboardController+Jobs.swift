import Errand
import ErrandOperator
import ErrandText
import Foundation

extension DashboardController {
    private static let jobsOfAPage = 50

    func jobs(_ pageRequest: PageRequest) async throws -> Page {
        let wanted = try JobsRequest(pageRequest.query)
        let search = try await wanted.search(on: dashboard)
        let outcome = try await search.run(from: wanted.cursor, JobSearch.Limits(found: Self.jobsOfAPage))
        let filter = wanted.filter
        var content: [String: Any] = [
            "jobs": outcome.jobs.map(Self.row), "queueChoices": try await queueChoices(wanted.queue ?? ""),
            "stateChoices": JobsRequest.states.map { ["name": $0.rawValue, "isChosen": $0 == wanted.state] },
            "operation": filter.operation ?? "", "nameContains": filter.nameContains ?? "",
            "errorContains": filter.errorContains ?? "", "since": pageRequest.query["since"] ?? "",
            "until": pageRequest.query["until"] ?? "", "extent": try await extent(outcome, search, wanted),
            "hidden": wanted.fields.pairs.map { ["key": $0.key, "value": $0.value] },
        ]
        content["worker"] = filter.worker ?? ""
        if let next = outcome.next {
            let fields = FormFields(wanted.fields.pairs + [("from", next.text)])
            content["more"] = "\(base)/jobs?\(fields.query)"
        }
        return Page(
            heading: wanted.state == .dead ? "Dead jobs" : "Jobs",
            template: "jobs",
            content: content,
            unreadable: outcome.unreadable
        )
    }

    /// Describes in words how far a search came.
    private func extent(
        _ outcome: JobSearch.Outcome,
        _ search: JobSearch,
        _ wanted: JobsRequest
    ) async throws -> String {
        guard let next = outcome.next else {
            return wanted.cursor == nil ? "\(outcome.jobs.count.grouped) found; that is all." : "That is all."
        }
        let extent = try await search.extent(upTo: next)
        let words = wanted.filter.isEmpty ? "Shown up to" : "Scanned"
        return "\(words) \(extent.before.grouped)\(extent.total.map { " of \($0.grouped)" } ?? "")."
    }

    static func row(_ job: JobSummary) -> [String: Any] {
        var row: [String: Any] = [
            "id": job.record.id, "queue": job.queue, "state": job.record.state.rawValue,
            "operation": job.operation ?? "–", "name": short(job.name, 200), "error": short(job.error, 300),
            "attempt": job.attempt.map { "\($0)" } ?? "–", "time": job.time.map(Timestamp.text) ?? "–",
        ]
        // Ended jobs name a worker, too, but that worker may be gone.
        if job.record.state == .running, let worker = job.worker {
            row["runsOn"] = ["worker": worker, "place": FormFields.encode(worker)]
        }
        return row
    }

    private static func short(_ text: String?, _ limit: Int) -> String {
        guard let text else { return "" }
        return text.count > limit ? text.prefix(limit) + "…" : text
    }

    func job(_ id: String, in queue: String, _ pageRequest: PageRequest) async throws -> Page {
        guard let record = try await broker.inspect([id], on: queue).first ?? nil else {
            throw PageProblem.notFound("no such job: it was deleted, or its record has expired")
        }
        let job = JobSummary(record, in: queue)
        let facts = JobFacts(job, worker: await job.worker(on: broker))
        let description = job.stored?.description
        var content: [String: Any] = [
            "id": id, "queue": queue, "facts": facts.rows, "history": facts.history,
            "isDead": record.state == .dead, "isRunning": record.state == .running,
            "isWaiting": record.state == .scheduled || record.state == .retrying,
            "isUnfinished": !record.state.hasEnded, "hasArguments": description != nil,
        ]
        if let result = job.result, !result.isEmpty { content["result"] = result }
        if let description, pageRequest.query["arguments"] == "show" {
            content["arguments"] = IndentedJSON.lines(of: description.arguments.bytes)
        }
        // The edit form contains the arguments, so it is shown only if they were requested.
        if let description, record.state == .dead, pageRequest.mayAct, pageRequest.query["arguments"] == "show" {
            content["edit"] = FormJSON.editable(description.withoutID().encoded())
        }
        return Page(heading: "Job \(id)", template: "job", content: content)
    }
}

/// The facts about a job on its page.
struct JobFacts {
    private let job: JobSummary
    private let worker: String?

    /// - Parameter worker: The session that runs the job, or ran it last.
    init(_ job: JobSummary, worker: String?) { (self.job, self.worker) = (job, worker) }

    var rows: [[String: Any]] {
        let record = job.record
        let description = job.stored?.description
        let facts: [(String, String?, Bool)] = [
            ("State", record.state.rawValue, record.state == .dead), ("Queue", job.queue, false),
            ("Operation", job.operation, false), ("Name", job.name, false),
            ("Unique", job.stored?.policy.rawValue, false), ("Priority", job.stored.map { "\($0.priority)" }, false),
            ("Timeout", description?.timeout.map { TimeSpanText.exact($0) }, false),
            ("Retries", description?.retries.map { "\($0)" }, false), ("Backoff", job.backoff, false),
            ("Attempt", job.attempt.map { "\($0)" }, false),
            ("Failures", record.failures > 0 ? "\(record.failures)" : nil, true),
            ("Workers that died with it", record.crashes > 0 ? "\(record.crashes)" : nil, true),
            ("Pushed", job.pushed.map(Timestamp.text), false),
            ("In line since", job.since.map(Timestamp.text), false),
            ("Running", job.running(at: Int64(Date().timeIntervalSince1970 * 1000)), false),
            (record.state.hasEnded ? "Ended" : "Due", record.at.map(Timestamp.text), false),
            ("Worker", worker, false), ("Progress", job.progress, false), ("Error", job.error, true),
        ]
        let meta: [(String, String?, Bool)] = job.meta.map { ("Meta", "\($0.key): \($0.value)", false) }
        return (facts + meta).compactMap { title, value, isBad in
            value.map { ["title": title, "value": $0, "isBad": isBad] }
        }
    }

    /// The recorded history of the job, oldest first.
    var history: [[String: Any]] {
        var steps: [(Int64?, String, String?)] = []
        if let pushed = job.pushed { steps.append((pushed, "was pushed", nil)) }
        if let since = job.stored?.readySince,
            job.pushed.map({ since.subtractingReportingOverflow($0).partialValue > 1000 }) ?? true
        {
            steps.append((since, "came into line", nil))
        }
        for event in job.record.events.reversed().compactMap(JobEvent.init(line:)) {
            let took = event.durationMilliseconds.map { " after \(TimeSpanText.exact($0))" } ?? ""
            let attempt = event.attempt.map { ", attempt \($0)" } ?? ""
            let words = "\((event.event ?? "ended").replacing("_", with: " "))\(took)\(attempt)"
            steps.append((event.atMilliseconds, words, event.error))
        }
        if job.record.state == .running {
            steps.append((job.record.claimedAt, "runs on \(worker ?? "a worker")", nil))
        }
        if let due = job.record.at, !job.record.state.hasEnded { steps.append((due, "is due", nil)) }
        // A job that was retried came into line after its first runs.
        steps = steps.enumerated().sorted { ($0.1.0 ?? .max, $0.0) < ($1.1.0 ?? .max, $1.0) }.map(\.element)
        return steps.map { time, what, detail in
            var step: [String: Any] = ["time": time.map(Timestamp.text) ?? "now", "what": what]
            if let detail { step["detail"] = detail }
            return step
        }
    }
}
