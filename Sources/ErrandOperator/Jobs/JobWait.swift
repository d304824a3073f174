package import Errand
import ErrandText

/// Why a job does not run, or what became of it: what `errand why` and the job's page say.
package struct JobWait: Sendable, Equatable {
    /// The reasons, named as for programs.
    package enum Reason: String, Sendable {
        /// The queue is paused.
        case paused
        /// The job is not due yet.
        case scheduled
        /// A run has failed or was snoozed, and the next one is not due yet.
        case retrying
        /// Other jobs come first, or a worker is about to claim it.
        case behind
        /// As many jobs of its group are claimed as the group's rule allows.
        case groupFull = "group_full"
        /// As many jobs of the queue are claimed as the rule of the whole queue allows.
        case queueFull = "queue_full"
        /// Its group, or the whole queue, starts no job at the moment, because of its rate.
        case rate
        /// Its group rests, because a handler asked for that.
        case resting
        /// Its group is ordered, and an earlier job of it has not ended.
        case ordered
        /// No live worker has its operation.
        case unroutable
        /// It has crashed several workers, and waits to run alone.
        case quarantined
        /// It waits for the end of the running job that holds its name.
        case deferred
        /// It waits for jobs of its workflow.
        case blocked
        /// It runs.
        case running
        /// It has ended.
        case ended
    }

    /// The reason.
    package let reason: Reason
    /// The same for people, with the numbers.
    package let text: String

    private init(_ reason: Reason, _ text: String) {
        self.reason = reason
        self.text = text
    }

    /// Finds the reason. A ready job takes two or three calls, any other at most one.
    package init(of job: JobSummary, on broker: some ConsoleBroker, now: Int64) async throws(BrokerError) {
        let when = job.record.at.map { Timestamp.relative($0, to: now) } ?? "at an unknown time"
        if let unserved = try await Self.unservedDueJob(job, on: broker, now: now) {
            self = unserved
            return
        }
        switch job.record.state {
        case .ready: self = try await Self.ready(job, on: broker, now: now)
        case .scheduled: self.init(.scheduled, "scheduled: it is due \(when)" + Self.expiry(of: job, now))
        case .retrying:
            let error = job.record.lastError.map { "; its last error: \($0)" } ?? ""
            self.init(.retrying, "retrying: attempt \(job.record.failures + 1) is due \(when)\(error)")
        case .deferred:
            self.init(.deferred, "deferred: it waits for the end of the running job of its name")
        case .blocked:
            let workflow = job.stored?.description.workflow?.id.description ?? "ID"
            self.init(
                .blocked,
                "blocked: it waits for jobs of its workflow; errand workflow show \(workflow) says for which"
            )
        case .running: self.init(.running, "running " + (job.running(at: now) ?? "since an unknown time"))
        case .finished, .cancelled, .replaced, .expired, .skipped, .deleted, .dead:
            self.init(.ended, "\(job.record.state.rawValue) \(when)" + (job.error.map { ": \($0)" } ?? ""))
        }
    }

    private static func ready(
        _ job: JobSummary,
        on broker: some ConsoleBroker,
        now: Int64
    ) async throws(BrokerError) -> JobWait {
        let (queue, sessions) = try await broker.status(of: job.queue)
        if let unserved = unserved(job, queue, sessions) { return unserved }
        if let held = try await heldBackQueue(of: job, queue, on: broker, now: now) { return held }
        if let held = try await heldBackGroup(of: job, on: broker, now: now) { return held }
        if job.record.crashes >= MemoryJob.crashesOfQuarantined {
            return JobWait(
                .quarantined,
                "quarantined: \(job.record.crashes) workers have died with it, so it runs alone when a worker is free"
            )
        }
        let others = max(queue.ready - 1, 0).counted("other ready job")
        let priority = job.stored?.priority ?? 5
        return JobWait(.behind, "ready: it waits for a free worker, with \(others) (its priority is \(priority))")
    }

    /// Whether no worker may claim the job, whatever its group.
    private static func unserved(_ job: JobSummary, _ queue: QueueStatus, _ sessions: [SessionStatus]) -> JobWait? {
        if queue.isPaused {
            return JobWait(.paused, "paused: the queue is; errand queue resume \(job.queue) lets it go on")
        }
        let live = sessions.filter { !$0.isLost }
        if live.isEmpty { return JobWait(.unroutable, "unroutable: no live worker serves queue \(job.queue)") }
        guard let operation = job.operation, live.contains(where: { $0.operations.contains(operation) }) else {
            return JobWait(.unroutable, "unroutable: no live worker has operation \(job.operation ?? "-")")
        }
        return nil
    }

    /// The same of a job that is due, but that no worker has made ready.
    private static func unservedDueJob(
        _ job: JobSummary,
        on broker: some ConsoleBroker,
        now: Int64
    ) async throws(BrokerError) -> JobWait? {
        guard [.scheduled, .retrying].contains(job.record.state), let due = job.record.at, due <= now else {
            return nil
        }
        let (queue, sessions) = try await broker.status(of: job.queue)
        return unserved(job, queue, sessions)
    }

    /// What to add about a job that expires before it is due.
    private static func expiry(of job: JobSummary, _ now: Int64) -> String {
        guard let expires = job.stored?.expiresAt, let due = job.record.at, expires <= due else { return "" }
        return " and will then end as expired (expiry \(Timestamp.relative(expires, to: now)))"
    }

    /// Whether the rule of the whole queue holds the job back.
    private static func heldBackQueue(
        of job: JobSummary,
        _ queue: QueueStatus,
        on broker: some ConsoleBroker,
        now: Int64
    ) async throws(BrokerError) -> JobWait? {
        guard let rule = try await broker.flow(of: job.queue).first(where: { $0.pattern.isEmpty })?.rule else {
            return nil
        }
        if let limit = rule.atOnce, queue.running >= limit {
            return JobWait(.queueFull, "queue full: \(queue.running) of \(limit) jobs of \(job.queue) are claimed")
        }
        guard rule.rate != nil, let whole = try await broker.groups(of: job.queue, named: "", most: 1).first else {
            return nil
        }
        return rest(of: whole, named: job.queue, now)
    }

    private static func rest(of group: GroupStatus, named name: String, _ now: Int64) -> JobWait? {
        guard let ends = group.restingUntil else { return nil }
        let rest = TimeSpanText.rounded(max(ends - now, 1))
        if group.isAtRate { return JobWait(.rate, "rate: \(name) may start the next job in \(rest)") }
        return JobWait(.resting, "resting: a handler asked for a pause, so \(name) starts the next job in \(rest)")
    }

    /// A job that an ordered group waits for, with its state.
    private static func state(
        of id: String,
        _ queue: String,
        _ broker: some ConsoleBroker
    ) async throws(BrokerError) -> String {
        let state = try await broker.inspect([id], on: queue).first??.state
        let advice = state == .dead ? "; errand job retry or errand job delete lets it go on" : ""
        return "job \(id), which is \(state?.rawValue ?? "gone")\(advice)"
    }

    private static func heldBackGroup(
        of job: JobSummary,
        on broker: some ConsoleBroker,
        now: Int64
    ) async throws(BrokerError) -> JobWait? {
        guard let name = job.stored?.description.group.flatMap({ GroupName($0) }) else { return nil }
        for part in name.limited {
            let groups = try await broker.groups(of: job.queue, named: part, most: 1)
            guard let group = groups.first, let hold = group.hold else { continue }
            if hold == .ordered, let blocker = group.blocker {
                return try await JobWait(
                    .ordered,
                    "ordered: \(part) goes on after \(state(of: blocker, job.queue, broker))"
                )
            }
            if let rest = rest(of: group, named: part, now) { return rest }
            let words = "\(group.held) of \(group.limit ?? 0) jobs of \(part) are claimed, \(group.waiting) wait"
            return JobWait(hold, "group full: \(words)")
        }
        return nil
    }
}
