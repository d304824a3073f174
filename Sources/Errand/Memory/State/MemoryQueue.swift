/// One queue: its jobs and their places, the sessions that serve it, and its totals.
///
/// The transitions are in the folder `Transitions`. Each of them runs at the time `now` and collects its events and
/// wake-ups in the outbox.
struct MemoryQueue: Sendable {
    let name: String
    /// Whether the queue was deleted, so that nothing may be added to it.
    var isDeleted = false
    /// The broker's time in milliseconds since 1970 UTC, set before every transition.
    var now: Int64 = 0

    var jobs: [String: MemoryJob] = [:]
    var lines: [LineName: Line] = [:]
    var scheduled = TimedIDs()
    var retrying = TimedIDs()
    /// Dead jobs by the time of their death.
    var dead = TimedIDs()
    /// The job that holds each name.
    var holders: [MemoryName: String] = [:]

    var sessions: [String: MemorySession] = [:]
    /// Sessions that found no jobs and wait for a wake-up, the longest-waiting first.
    var idle: [String] = []
    /// Whether a session has subscribed to wake-ups. Direct dispatch needs that.
    var listens: @Sendable (_ session: String) -> Bool = { _ in true }
    /// The quarantine owner: the session that runs the quarantined jobs.
    var solo: String?
    var pulse = MemoryPulse()

    var lastToken: Token = 0
    var claimsMade = 0
    /// The number of jobs of higher priorities that were claimed since one of the lowest.
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

    /// The jobs, live sessions and schedules that prevent the deletion of the queue; `deleted` if there are none.
    var use: QueueDeletion {
        let live = sessions.values.count { $0.leaseEnds > now }
        if jobs.isEmpty, live == 0, schedules.isEmpty { return .deleted(jobs: 0) }
        return .inUse(jobs: jobs.count, workers: live, schedules: schedules.count)
    }
}

/// The data that determines whether the sessions could send heartbeats at all.
struct MemoryPulse: Sendable {
    var lastBeat: Int64?
    /// The last call of recovery, if it was the first call after an outage and there was no beat since.
    var gapNoticed: Int64?
    /// The longest lease of a session.
    var longestLease: Int64 = 0
    /// When an outage of the broker or a change of its clock was last noticed.
    var leap: Int64 = 0
    /// The time before which recovery recovers nothing.
    var graceEnds: Int64 = 0

    /// Notes a beat. It also ends the noticed gap, because a clock that is set back could reach the same time again.
    mutating func beat(at now: Int64) {
        lastBeat = now
        gapNoticed = nil
    }
}

/// The settings of a queue; see ``QueueSettings``.
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
