/// The specification of a queue: every transition of `docs/states.md` and `docs/data-model.md`, told as plainly as can
/// be, for real brokers to be compared with. It shares no code with any of them.
///
/// Nothing in it is left to chance or read from a clock, so the same commands at the same times give the same queue.
package struct QueueModel: Hashable, Sendable {
    package var now: Time = 0
    package var effects = Effects()

    package var jobs: [JobID: Job] = [:]
    package var lines: [Line: [JobID]] = [:]
    package var holders: [Name: JobID] = [:]
    package var sessions: [SessionID: SessionState] = [:]
    /// Sessions that found nothing and wait to be told of work: who has waited longest is told first.
    package var waiting: [SessionID] = []

    /// When anybody last beat, registered, or called after an outage.
    package var lastBeat: Time?
    /// The longest lease of the sessions that were there at the last registration.
    package var longestLease: Time = 0
    /// When it was last noticed that the broker or its clock had been away.
    package var leap: Time = 0
    /// Recovery takes nothing back before this time.
    package var graceEnds: Time = 0
    /// When recovery was called last, if it has granted the grace itself and nobody has beaten since.
    package var gapNoticed: Time?

    package var lastToken: Token = 0
    /// Jobs of higher levels that were claimed since one of the lowest was.
    package var turn = 0
    /// The session that serves the suspects.
    package var solo: SessionID?

    package var settings = Settings()
    package var totals: [Total: Int] = [:]
    package var ended = EndedIDs()
    /// Oldest first.
    package var history: [Record] = []

    package init() {}
}

/// A job that has not ended for good.
package struct Job: Hashable, Sendable {
    package var pushed: Push
    package var readySince: Time
    package var place: Place
    /// Whether it let its name go when it was claimed.
    package var hasLetNameGo = false
    /// Runs that failed or timed out.
    package var failures = 0
    /// Workers that died with it begun, or for the second time without word of it, and those of them that held nothing else.
    package var crashes = 0
    package var crashesAlone = 0
    /// Whether a worker died with it, begun or not.
    package var hasComeBack = false
    /// Of its runs that did not succeed, the newest first.
    package var errors: [Event] = []
    package var stop: Stop?
    /// The job that takes its name over when its claim has ended.
    package var successor: JobID?

    package var id: JobID { pushed.id }
    /// The name that it holds, or waits for.
    package var name: Name? { hasLetNameGo ? nil : pushed.name }
    package var isSuspect: Bool { crashes >= 3 }
    package var isDead: Bool { if case .dead = place { true } else { false } }
    /// Ten are kept. That they are fewer when they are long is left to the brokers.
    mutating func keepError(_ event: Event) { errors = Array(([event] + errors).prefix(10)) }
    package var holder: SessionID? { if case .claimed(let session) = place { session } else { nil } }
}

/// A session as a queue knows it.
package struct SessionState: Hashable, Sendable {
    package var registration: Registration
    package var leaseEnds: Time
    package var lastBeat: Time
    /// Claims with tokens up to this one have begun.
    package var begun: Token = 0
    /// In the order in which they were made.
    package var claims: [HeldClaim] = []
    package var lastCall: LastCall?
    /// The next call can be answered by a push, since the last one found nothing. How long a claim may wait and take to stop.
    package var openCall: Time?
    /// The token with which a push has answered the next call.
    package var handed: Token?

    /// The number of the last call that was answered, be it by a push before it came.
    package var lastAnswered: Int { (lastCall?.number ?? 0) + (handed == nil ? 0 : 1) }

    package struct HeldClaim: Hashable, Sendable {
        package var id: JobID
        package var token: Token
        package var made: Time
        package var deadline: Time
    }

    package struct LastCall: Hashable, Sendable {
        package var number: Int
        package var token: Token?
        package var accepted: [Bool]
        package var isPreanswered = false
    }

    package func claim(of id: JobID) -> HeldClaim? { claims.first { $0.id == id } }
}

/// What an operator set.
package struct Settings: Hashable, Sendable {
    package var isPaused = false
    package var publishesStarts = false
    package var maximumLength = 10_000_000
    package var rememberIDs: Time = 60_000
    package var keepHistory: Time = 86_400_000
}

/// What is kept of a job that ended.
package struct Record: Hashable, Sendable {
    package var event: Event
    package var errors: [Event] = []
    package var hasResult: Bool
    package var ending: Ending

    package var id: JobID { event.id }
}

/// The ids of ended jobs: two generations, each dropped whole.
package struct EndedIDs: Hashable, Sendable {
    package struct Generation: Hashable, Sendable {
        package var endings: [JobID: Ending] = [:]
        package var expires: Time = 0
    }
    package var current = Generation()
    package var older = Generation()
    package var since: Time?

    /// What the present transition has ended; a generation gives way to another only at the end of a transition.
    package var latest: [JobID: Ending] = [:]

    package func ending(of id: JobID, at now: Time) -> Ending? {
        latest[id] ?? (now < current.expires ? current.endings[id] : nil)
            ?? (now < older.expires ? older.endings[id] : nil)
    }

    mutating func settle(at now: Time, window: Time) {
        guard !latest.isEmpty else { return }
        if now >= current.expires { current = Generation() }
        // What a clock that was put back has still to come to has not been kept for its time.
        since = since.map { min($0, now) }
        if since.map({ now - $0 >= window }) ?? true {
            if !current.endings.isEmpty { older = current }
            current = Generation()
            since = now
        }
        current.endings.merge(latest) { $1 }
        current.expires = now + 2 * window
        latest = [:]
    }
}
