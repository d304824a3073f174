import Errand
import ErrandOperator
import ErrandText

/// The facts about a job on its page.
struct JobFacts {
    private let job: JobSummary
    private let worker: String?
    private let wait: JobWait?
    private let retries: DefaultRetries
    private let moments: MomentView
    private let workflow: JobWorkflow?

    /// - Parameters:
    ///   - worker: The session that runs the job, or ran it last.
    ///   - wait: Why the job does not run; `nil` if it does or has ended.
    ///   - retries: The defaults of the workers.
    ///   - workflow: The workflow that the job is of, if any.
    init(
        _ job: JobSummary,
        worker: String?,
        wait: JobWait?,
        retries: DefaultRetries,
        moments: MomentView,
        workflow: JobWorkflow?
    ) {
        (self.job, self.worker, self.wait, self.retries, self.moments) = (job, worker, wait, retries, moments)
        self.workflow = workflow
    }

    var rows: [[String: Any]] { links + texts + times + meta }

    /// The link to the job's workflow.
    private var links: [[String: Any]] {
        workflow.map { workflow in
            let link = ["path": "/workflows/\(workflow.id)", "words": workflow.words]
            return [
                [
                    "title": "Workflow", "value": "", "isBad": false, "links": [link],
                    "moments": [[String: Any]](),
                ]
            ]
        } ?? []
    }

    private var texts: [[String: Any]] {
        let record = job.record
        let description = job.stored?.description
        let facts: [(String, String?, Bool)] = [
            ("Waits because", wait?.text, false), ("Name", job.name, false), ("Unique", policy, false),
            ("Tags", job.tags.isEmpty ? nil : job.tags.joined(separator: ", "), false),
            ("Priority", job.stored.map { "\($0.priority)" }, false), ("Group", job.group, false),
            ("Cost", description?.cost.map { "\($0)" }, false),
            ("Attempt", attempt, false), ("Failures", record.failures > 0 ? "\(record.failures)" : nil, true),
            ("Workers that died with it", record.crashes > 0 ? "\(record.crashes)" : nil, true),
            ("Timeout", description?.timeout.map { TimeSpanText.exact($0) }, false),
            ("Retries", description?.retries.map { "\($0)" }, false), ("Backoff", job.backoff, false),
            ("Worker", worker, false), ("Trace", traceID, false),
        ]
        return facts.compactMap { title, value, isBad in
            value.map { ["title": title, "value": $0, "isBad": isBad, "moments": [[String: Any]]()] }
        }
    }

    /// The policy, unless it is the one that does nothing.
    private var policy: String? {
        guard let policy = job.stored?.policy, policy != .ignore else { return nil }
        return policy.rawValue
    }

    private var attempt: String? {
        job.attempt.map { attempt in "\(attempt)" + (job.mostAttempts(retries).map { " of \($0)" } ?? "") }
    }

    private var times: [[String: Any]] {
        let running = job.record.state == .running ? job.record.claimedAt : nil
        let facts: [(String, Int64?)] = [
            ("Pushed", job.pushed), ("Ready since", job.since), ("Running since", running),
            (job.record.state.hasEnded ? "Ended" : "Due", job.record.at),
        ]
        return facts.compactMap { title, time in
            time.map { ["title": title, "value": "", "isBad": false, "moments": [moments.exact($0)]] }
        }
    }

    private var meta: [[String: Any]] {
        job.meta.map {
            ["title": "Meta", "value": "\($0.key): \($0.value)", "isBad": false, "moments": [[String: Any]]()]
        }
    }

    /// The id of the trace in which the job was pushed: the second part of the W3C header `traceparent`.
    private var traceID: String? {
        let parts = job.stored?.description.meta["traceparent"]?.split(separator: "-") ?? []
        guard parts.count >= 4, parts[1].utf8.count == 32, parts[1].allSatisfy(\.isHexDigit) else { return nil }
        return String(parts[1])
    }
}
