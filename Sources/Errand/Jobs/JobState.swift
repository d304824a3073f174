/// Where a job is in its life. `docs/states.md` has the diagram.
public enum JobState: String, Sendable, CaseIterable {
    /// In line.
    case ready
    /// Due later.
    case scheduled
    /// A session holds it.
    case running
    /// It failed and is due again later.
    case retrying
    /// It waits for the end of a running job of its name.
    case deferred
    /// It was given up; a person decides.
    case dead
    /// It is done.
    case finished
    /// It was cancelled.
    case cancelled
    /// A newer job took its place.
    case replaced
    /// It was removed by hand.
    case deleted

    /// Whether the job will not run again by itself.
    public var hasEnded: Bool {
        switch self {
        case .ready, .scheduled, .running, .retrying, .deferred: false
        case .dead, .finished, .cancelled, .replaced, .deleted: true
        }
    }
}

/// What the broker knows of a job.
public struct JobRecord: Sendable, Equatable {
    /// The job's id.
    public var id: String
    /// Where it is in its life.
    public var state: JobState
    /// What the broker stores of it (see `StoredJob`); empty when it has ended and its body is gone.
    public var body: [UInt8]
    /// How many runs failed or timed out.
    public var failures: Int
    /// How often a worker died with it.
    public var crashes: Int
    /// When it is due, ended or died, in milliseconds since 1970 UTC, as far as that is known.
    public var at: Int64?
    /// The session that runs it.
    public var session: String?
    /// The events of this job that the broker kept, each a JSON object as on the queue's channel: of an ended job the last
    /// one first; then those of its runs that did not succeed, the newest first, ten or 16 KiB at the most.
    public var events: [[UInt8]]
    /// What it gave.
    public var result: [UInt8]
    /// How far it is, if it has told; kept until it ends.
    public var progress: JobProgress?

    /// Makes a record.
    public init(
        id: String,
        state: JobState,
        body: [UInt8] = [],
        failures: Int = 0,
        crashes: Int = 0,
        at: Int64? = nil,
        session: String? = nil,
        events: [[UInt8]] = [],
        result: [UInt8] = [],
        progress: JobProgress? = nil
    ) {
        self.id = id
        self.state = state
        self.body = body
        self.failures = failures
        self.crashes = crashes
        self.at = at
        self.session = session
        self.events = events
        self.result = result
        self.progress = progress
    }

    /// The last event of this job that the broker kept; empty when it kept none.
    public var lastEvent: [UInt8] { events.first ?? [] }
}

/// Some of the jobs in a state.
public struct JobPage: Sendable, Equatable {
    /// The jobs, in the order of the state: next to run first; of the dead and the ended, the newest first.
    public var jobs: [JobRecord]
    /// The position in the state of each of the jobs, from 0. There may be gaps: not every place holds a job.
    public var positions: [Int]
    /// Where the next page begins; `nil` after the last.
    public var next: Int?

    /// Makes a page.
    public init(jobs: [JobRecord] = [], positions: [Int] = [], next: Int? = nil) {
        self.jobs = jobs
        self.positions = positions
        self.next = next
    }
}
