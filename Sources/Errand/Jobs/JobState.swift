/// The state of a job. `docs/states.md` has the diagram.
public enum JobState: String, Sendable, CaseIterable {
    /// The job is in the ready list.
    case ready
    /// The job is due later.
    case scheduled
    /// A session has claimed the job.
    case running
    /// The job has failed and waits for a retry.
    case retrying
    /// The job waits for the end of the running holder of its name.
    case deferred
    /// The job is of a workflow, and waits for jobs that it comes after.
    case blocked
    /// The job has no retries left, cannot be read or crashes workers. It is kept until it is retried or deleted by
    /// hand.
    case dead
    /// The job has finished.
    case finished
    /// The job was cancelled.
    case cancelled
    /// A newer job has replaced the job.
    case replaced
    /// No worker had claimed the job when it expired.
    case expired
    /// The job is of a workflow and can never run, because of how a job that it comes after has ended.
    case skipped
    /// The job was removed by hand.
    case deleted

    /// Whether the job will not run again by itself.
    public var hasEnded: Bool {
        switch self {
        case .ready, .scheduled, .running, .retrying, .deferred, .blocked: false
        case .dead, .finished, .cancelled, .replaced, .expired, .skipped, .deleted: true
        }
    }
}

/// The broker's record of a job.
public struct JobRecord: Sendable, Equatable {
    /// The job's id.
    public var id: String
    /// The job's state.
    public var state: JobState
    /// The stored form of the job (see `StoredJob`); empty if the job has ended and its body is no longer kept.
    public var body: [UInt8]
    /// The number of runs that failed or timed out.
    public var failures: Int
    /// The number of workers that died while running it.
    public var crashes: Int
    /// When the job is due (scheduled or retrying), became dead or ended, in milliseconds since 1970 UTC; `nil` in other
    /// states, and if it is not known.
    public var at: Int64?
    /// The session that runs it.
    public var session: String?
    /// When that session claimed it, in milliseconds since 1970 UTC. It begins at once if the session has a free slot.
    public var claimedAt: Int64?
    /// The kept events of this job, each a JSON object as on the queue's channel: the last event first if the job has
    /// ended; then the events of its unsuccessful runs, the newest first, at most ten or 16 KiB.
    public var events: [[UInt8]]
    /// The result; empty if there is none.
    public var result: [UInt8]
    /// The last reported progress; kept until the job ends.
    public var progress: JobProgress?
    /// The workflows in which the job has a place: it is one of their jobs, or stands for one whose place it has taken. Empty
    /// once it has ended, but for a dead job that may still be retried there.
    public var workflows: [WorkflowID]

    /// Makes a record.
    public init(
        id: String,
        state: JobState,
        body: [UInt8] = [],
        failures: Int = 0,
        crashes: Int = 0,
        at: Int64? = nil,
        session: String? = nil,
        claimedAt: Int64? = nil,
        events: [[UInt8]] = [],
        result: [UInt8] = [],
        progress: JobProgress? = nil,
        workflows: [WorkflowID] = []
    ) {
        self.id = id
        self.state = state
        self.body = body
        self.failures = failures
        self.crashes = crashes
        self.at = at
        self.session = session
        self.claimedAt = claimedAt
        self.events = events
        self.result = result
        self.progress = progress
        self.workflows = workflows
    }

    /// The last event that the broker has kept of this job; empty if there is none.
    public var lastEvent: [UInt8] { events.first ?? [] }
}

/// A page of the jobs in a state.
public struct JobPage: Sendable, Equatable {
    /// The jobs in the order of the state: the next to run first; for dead and ended jobs the newest first.
    public var jobs: [JobRecord]
    /// The position of each of the jobs in the state, from 0. There may be gaps, because not every entry is a job.
    public var positions: [Int]
    /// The position at which the next page begins; `nil` after the last.
    public var next: Int?

    /// Makes a page.
    public init(jobs: [JobRecord] = [], positions: [Int] = [], next: Int? = nil) {
        self.jobs = jobs
        self.positions = positions
        self.next = next
    }
}
