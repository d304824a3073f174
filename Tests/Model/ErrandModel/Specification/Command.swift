/// A job as a producer hands it over.
package struct Push: Hashable, Sendable {
    package var id: JobID
    package var policy = Policy.ignore
    /// There unless the policy is `ignore`.
    package var name: Name?
    /// Whether the name is held until the first claim only.
    package var isUniqueUntilStarted = false
    package var priority = 5
    package var operation: Operation = 0
    package var timeout: Time?
    package var retries: Int?
    /// The earliest time to run; 0 for now.
    package var due: Time = 0

    package init(id: JobID) { self.id = id }
}

/// What a worker tells of itself when it registers.
package struct Registration: Hashable, Sendable {
    package var session: SessionID
    package var lease: Time
    /// The process: another one may not take the same session.
    package var pid = 1
    /// Timeouts and retries of the operations it knows.
    package var operations: [Operation: Defaults] = [:]

    package init(session: SessionID, lease: Time) {
        self.session = session
        self.lease = lease
    }

    package struct Defaults: Hashable, Sendable {
        package var timeout: Time
        package var retries: Int

        package init(timeout: Time, retries: Int) {
            self.timeout = timeout
            self.retries = retries
        }
    }
}

/// How one run ended.
package struct Report: Hashable, Sendable {
    package var id: JobID
    package var token: Token
    package var verb: Verb
    package var attempt = 1
    package var duration = 0
    package var hasError = false
    package var hasResult = false
    package var retryDelay: Time?
    /// The worker says them again, from the body.
    package var operation: Operation?
    package var name: Name?

    package init(id: JobID, token: Token, verb: Verb) {
        self.id = id
        self.token = token
        self.verb = verb
    }
}

/// One numbered call of a worker: these ended, give me as many.
package struct Call: Hashable, Sendable {
    package var session: SessionID
    package var number: Int
    package var reports: [Report] = []
    package var wanted = 0
    package var freeSlots = 0
    package var begun: Token = 0
    /// Whether a push may answer the next call, if this one finds nothing.
    package var acceptsDirectDispatch = false
    /// The longest wait in the worker and the time to stop, together.
    package var waitAndGrace: Time = 0

    package init(session: SessionID, number: Int) {
        self.session = session
        self.number = number
    }
}

/// What an operator changes; `nil` leaves a setting alone, 0 puts its default back.
package struct SettingsChange: Hashable, Sendable {
    package var isPaused: Bool?
    package var publishesStarts: Bool?
    package var maximumLength: Int?
    package var rememberIDs: Int?
    package var keepHistory: Int?

    package init() {}
}

/// A transition that somebody asks for.
package enum Command: Hashable, Sendable {
    /// Which of the waiting sessions is told first is the broker's choice: this one, or who has waited longest.
    case push([Push], first: SessionID? = nil)
    case register(Registration)
    case exchange(Call)
    case beat(SessionID, lease: Time, begun: Token)
    case release(SessionID)
    case promote
    case reconcile(SessionID, number: Int, known: [StopOrder])
    /// When no session is dead, a broker may look at the hard deadlines of one session of its choice, or of all (`nil`).
    case recover(look: SessionID?)
    case cancel([JobID])
    case delete([JobID])
    case retry([JobID])
    case clear
    case configure(SettingsChange)
}
