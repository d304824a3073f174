/// One queue: its jobs, where they are, the sessions that serve it, and what has been counted.
///
/// The transitions are in the folder beside this one; each runs at the time `now`, and what it has to tell gathers in
/// the outbox.
struct MemoryQueue: Sendable {
    let name: String
    /// Whether an operator has deleted it, so that nothing may be put into it any more.
    var isDeleted = false
    /// The broker's time, in milliseconds since 1970, set before every transition.
    var now: Int64 = 0

    var jobs: [String: MemoryJob] = [:]
    var lines: [LineName: Line] = [:]
    var scheduled = TimedIDs()
    var retrying = TimedIDs()
    /// Dead jobs by the time of their death.
    var dead = TimedIDs()
    /// Which job holds a name.
    var holders: [MemoryName: String] = [:]

    var sessions: [String: MemorySession] = [:]
    /// Sessions that found nothing and wait for a hint: who has waited longest is told first.
    var idle: [String] = []
    /// Whether somebody hears a session's hints; who does not gets no job by one.
    var listens: @Sendable (_ session: String) -> Bool = { _ in true }
    /// The session that serves the suspects.
    var solo: String?
    var pulse = MemoryPulse()

    var lastToken: Token = 0
    var claimsMade = 0
    /// How many jobs of higher levels were claimed since one of the lowest was.
    var turn = 0

    var schedules: [String: MemorySchedule] = [:]
    var unscheduled = DeletedSchedules()

    var settings = MemorySettings()
    var totals: [String: Int] = [:]
    var ended = EndedIDs()
    var history = History()
    var outbox = MemoryOutbox()
    var log = MemoryEventLog()

    init(name: String) { self.name = name }

    static let mostDead = 100_000

    /// What stands against deleting it; nothing where it has no jobs, live sessions or schedules.
    var use: QueueDeletion {
        let live = sessions.values.count { $0.leaseEnds > now }
        if jobs.isEmpty, live == 0, schedules.isEmpty { return .deleted(jobs: 0) }
        return .inUse(jobs: jobs.count, workers: live, schedules: schedules.count)
    }
}

/// What tells whether the sessions could beat at all.
struct MemoryPulse: Sendable {
    var lastBeat: Int64?
    /// When recovery was called last, if it came first after an outage and nobody has beaten since.
    var gapNoticed: Int64?
    /// The longest lease of a session.
    var longestLease: Int64 = 0
    /// When it was last noticed that the broker or its clock had been away.
    var leap: Int64 = 0
    /// Recovery takes nothing back before this time.
    var graceEnds: Int64 = 0

    /// What recovery noticed before was another gap, even if the clock, put back, comes by the same time again.
    mutating func beat(at now: Int64) {
        lastBeat = now
        gapNoticed = nil
    }
}

/// What an operator set; see ``QueueSettings``.
struct MemorySettings: Sendable {
    var isPaused = false
    var publishesStarts = false
    var maximumLength = Self.defaultMaximumLength
    var rememberIDs = Self.defaultRememberIDs
    var keepHistory = Self.defaultKeepHistory
    var keptEvents = 0

    static let defaultMaximumLength = 10_000_000
    static let defaultRememberIDs: Int64 = 60_000
    static let defaultKeepHistory: Int64 = 86_400_000
}
