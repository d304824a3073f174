/// One queue: its jobs and their places, the sessions that serve it, and its totals.
///
/// It is the executable specification of the transitions: a value without locks, input, output, clock or randomness.
/// The transitions are in the folder `Transitions`. Each is made between `beginTransition(at:)` and
/// `endTransition()` and collects its
/// events and wake-ups in `effects`. `MemoryBroker` ships it; the model in `Tests/Model` explores it and compares it
/// with Redis.
package struct MemoryQueue: Sendable, Equatable {
    package let name: String
    /// The time of the transition in milliseconds since 1970 UTC.
    package private(set) var now: Int64 = 0
    /// The output of the last transition.
    package var effects = MemoryEffects()

    package var jobs: [String: MemoryJob] = [:]
    package var readyLists: [ReadyListName: ReadyList] = [:]
    package var scheduled = TimedIDs()
    package var retrying = TimedIDs()
    /// Dead jobs by the time of their death.
    package var dead = TimedIDs()
    /// The job that holds each name.
    package var holders: [MemoryName: String] = [:]
    package var windows = ThrottleWindows()
    package var groups = MemoryGroups()
    package var workflows = MemoryWorkflows()

    package var sessions: [String: MemorySession] = [:]
    /// Sessions that found no jobs and wait for a wake-up, the longest-waiting first.
    package var idle: [String] = []
    /// The quarantine owner: the session that runs the quarantined jobs.
    package var quarantineOwner: String?
    package var pulse = MemoryPulse()

    package var lastToken: Token = 0
    var claimsMade = 0
    /// The number of jobs of higher priorities that were claimed since one of the lowest.
    package var turn = 0

    var schedules: [String: MemorySchedule] = [:]
    var unscheduled = DeletedSchedules()

    package var settings = MemorySettings()
    package var totals: [String: Int] = [:]
    package var ended = EndedIDs()
    package var history = MemoryHistory()
    var log = MemoryEventLog()

    /// Makes an empty queue.
    package init(name: String) { self.name = name }

    static let mostDead = 100_000

    /// The jobs, live sessions and schedules that prevent the deletion of the queue; `deleted` if there are none.
    func use(at now: Int64) -> QueueDeletion {
        let live = sessions.values.count { $0.leaseEnds > now }
        if jobs.isEmpty, live == 0, schedules.isEmpty { return .deleted(jobs: 0) }
        return .inUse(jobs: jobs.count, workers: live, schedules: schedules.count)
    }

    /// Begins a transition.
    package mutating func beginTransition(at time: Int64) {
        now = time
        effects = MemoryEffects()
        groups.rates.beginTransition(at: time)
    }

    /// Ends a transition: wakes as many waiting sessions as there are new ready jobs. Sessions of a paused queue are
    /// woken when it is resumed.
    package mutating func endTransition() {
        if !workflows.changed.isEmpty { continueWorkflows() }
        groups.rates.endTransition(at: now)
        ended.settle(now: now, window: settings.rememberIDs)
        history.trim(before: now - settings.keepHistory)
        if !settings.isPaused, effects.newWork > 0 {
            let woken = idle.prefix(effects.newWork)
            for session in woken { effects.add(.work(queue: name), for: session) }
            idle.removeFirst(woken.count)
        }
        if let session = effects.waitsLater { idle.append(session) }
    }

    mutating func count(_ what: MemoryTotal) { totals[what.rawValue, default: 0] += 1 }
}

/// The totals; the names of ``QueueStatus/Totals``.
enum MemoryTotal: String {
    case pushed, dropped, replaced, finished, failed, cancelled, retried, recovered, released, expired, skipped, dead
    case timedOut = "timed_out"
    case deadTrimmed = "dead_trimmed"
    case workflowFinished = "workflow_finished"
    case workflowFailed = "workflow_failed"
    case workflowCancelled = "workflow_cancelled"
}

/// The data that determines whether the sessions could send heartbeats at all.
package struct MemoryPulse: Sendable, Equatable {
    package var lastBeat: Int64?
    /// The last call of recovery, if it was the first call after an outage and there was no beat since.
    package var outageNoticed: Int64?
    /// The longest lease of a session.
    package var longestLease: Int64 = 0
    /// When an outage of the broker or a change of its clock was last noticed.
    package var leap: Int64 = 0
    /// The time before which recovery recovers nothing.
    package var graceEnds: Int64 = 0

    /// Notes a beat. It also ends the noticed gap, because a clock that is set back could reach the same time again.
    mutating func beat(at now: Int64) {
        lastBeat = now
        outageNoticed = nil
    }
}

/// The settings of a queue; see ``QueueSettings``.
package struct MemorySettings: Sendable, Equatable {
    package var isPaused = false
    package var publishesStarts = false
    package var maximumLength = Self.defaultMaximumLength
    package var rememberIDs = Self.defaultRememberIDs
    package var keepHistory = Self.defaultKeepHistory
    var keptEvents = 0

    static let defaultMaximumLength = 10_000_000
    static let defaultRememberIDs: Int64 = 60_000
    static let defaultKeepHistory: Int64 = 86_400_000
}
