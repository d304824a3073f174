import Errand
import ErrandOperator
import ErrandText

/// The values for the template of workers.
struct WorkerViews {
    private static let shownOperations = 12

    let running: RunningJobs
    let moments: MomentView
    /// Whether only one queue was asked for: a worker's other slots may run jobs of others.
    var isOfOneQueue = false

    func values(_ workers: [Overview.Worker]) -> [[String: Any]] { workers.map(row) }

    private func row(_ worker: Overview.Worker) -> [String: Any] {
        let session = worker.session
        let jobs = running.jobs[session.id] ?? []
        let more = session.executing.subtractingReportingOverflow(jobs.count).partialValue
        return [
            "id": session.id, "place": FormFields.encode(session.id), "host": session.host, "pid": session.pid,
            "running": session.executing, "concurrency": session.concurrency,
            "beat": TimeSpanText.rounded(session.lastBeatMilliseconds),
            "isOfOneQueue": isOfOneQueue, "isLost": worker.isLost,
            "versions": session.version.map { [["version": $0]] } ?? [],
            "starts": session.startedAt.map { [moments.relative($0, "started")] } ?? [],
            "queues": worker.queues.joined(separator: ", "), "operations": Self.operations(session),
            "jobs": jobs.map { JobRow(job: $0, moments: moments, retries: DefaultRetries([session])).values },
            "isIdle": jobs.isEmpty,
            "more": !jobs.isEmpty && more > 0 ? [["count": more.grouped]] : [],
        ]
    }

    private static func operations(_ session: SessionStatus) -> String {
        let more = session.operations.count - shownOperations
        return session.operations.prefix(shownOperations).joined(separator: ", ")
            + (more > 0 ? " and \(more.grouped) more" : "")
    }
}
