import Errand
import ErrandOperator
import ErrandText
import HTTPTypes

extension DashboardController {
    /// Makes the page of a job.
    ///
    /// - Parameters:
    ///   - typed: The edited description that was not accepted, if there is one.
    ///   - problem: Why it was not accepted.
    func job(
        _ id: String,
        in queue: String,
        _ pageRequest: PageRequest,
        typed: String? = nil,
        problem: String? = nil
    ) async throws -> Page {
        guard let record = try await broker.inspect([id], on: queue).first ?? nil else {
            throw PageProblem.notFound("no such job: it was deleted, or its record has expired")
        }
        let job = JobSummary(record, in: queue)
        let moments = MomentView()
        let worker = await job.worker(on: broker)
        let timeline = JobTimeline(job, worker: worker, now: moments.now)
        let view = JobTimelineView(timeline: timeline, moments: moments)
        let isOpen = pageRequest.query["arguments"] == "show" || typed != nil
        var content = Self.content(of: job)
        content["facts"] =
            JobFacts(
                job,
                worker: worker,
                wait: try await wait(of: job, now: moments.now),
                retries: try await defaultRetries(for: job),
                moments: moments,
                workflow: await JobWorkflow(of: job, on: broker)
            ).rows
        content["steps"] = view.steps
        content["bars"] = view.bar.isEmpty ? [] : [["parts": view.bar]]
        // The arguments, and what is made of them, are shown only if they were requested.
        if isOpen { content.merge(try await privateContent(of: job, pageRequest, typed)) { $1 } }
        return Page(
            heading: "Job \(id)",
            template: "job",
            content: content,
            status: problem == nil ? .ok : .badRequest,
            problem: problem
        )
    }

    /// Finds out why a job that is ready or deferred does not run; other states say it themselves.
    private func wait(of job: JobSummary, now: Int64) async throws -> JobWait? {
        guard job.record.state == .ready || job.record.state == .deferred else { return nil }
        return try await JobWait(of: job, on: broker, now: now)
    }

    /// Reads the defaults of the workers if the job does not set its retries itself.
    private func defaultRetries(for job: JobSummary) async throws -> DefaultRetries {
        guard let stored = job.stored, stored.retries == nil else { return DefaultRetries() }
        return DefaultRetries(try await Overview(of: [job.queue], on: broker).workers.map(\.session))
    }

    private static func content(of job: JobSummary) -> [String: Any] {
        let (record, description) = (job.record, job.stored?.description)
        var content: [String: Any] = [
            "id": record.id, "shortID": JobRow.short(id: record.id), "queue": job.queue,
            "state": record.state.rawValue, "operation": job.operation ?? "–",
            "isDead": record.state == .dead, "isRunning": record.state == .running,
            "isWaiting": record.state == .scheduled || record.state == .retrying,
            "isUnfinished": !record.state.hasEnded, "hasArguments": description != nil,
            "headlines": headline(of: job).map { [["line": $0]] } ?? [],
            "progress": record.progress.map { [["fraction": "\(min(max($0.fraction, 0), 1))"]] } ?? [],
            "progressText": job.progress ?? "",
        ]
        if let result = job.result, !result.isEmpty { content["result"] = result }
        return content
    }

    /// Returns the first line of the error of a job that is dead or waits for a retry; the timeline has all of it.
    private static func headline(of job: JobSummary) -> String? {
        guard [.dead, .retrying].contains(job.record.state) || job.unreadable != nil else { return nil }
        return job.error?.split(whereSeparator: \.isNewline).first.map { String($0).shortened(to: 300) }
    }

    private func privateContent(
        of job: JobSummary,
        _ pageRequest: PageRequest,
        _ typed: String?
    ) async throws -> [String: Any] {
        var content: [String: Any] = [:]
        guard let description = job.stored?.description else { return content }
        content["arguments"] = IndentedJSON.lines(of: description.arguments.bytes)
        if let checkpoint = try await broker.checkpoint(of: job.record.id, on: job.queue), !checkpoint.isEmpty {
            content["checkpoint"] = String(decoding: checkpoint, as: UTF8.self)
        }
        if pageRequest.mayAct { content["edit"] = typed ?? FormJSON.editable(description.withoutID().encoded()) }
        return content
    }
}
