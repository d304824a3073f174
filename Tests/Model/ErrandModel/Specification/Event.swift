/// The events of the contract.
package enum EventKind: String, Hashable, Sendable {
    case started, finished, failed, retrying, cancelled, dropped, replaced, released, recovered, dead
    case timedOut = "timed_out"
}

/// Why a run ended badly.
package enum Reason: Hashable, Sendable {
    case said
    case stuck
    case killsItsWorkers(crashes: Int, alone: Int)
}

/// What is published about a transition of a job.
package struct Event: Hashable, Sendable {
    package var kind: EventKind
    package var id: JobID
    package var operation: Operation
    package var name: Name?
    package var attempt = 0
    package var worker: SessionID?
    package var duration = 0
    package var reason: Reason?
    package var at: Time
}

/// What an event says of a run.
struct Run {
    var attempt = 0
    var worker: SessionID?
    var duration = 0
    var reason: Reason?
}

/// What a transition does besides changing the queue.
package struct Effects: Hashable, Sendable {
    package var events: [Event] = []
    /// Jobs that came into a line: as many waiting sessions are woken.
    package var newWork = 0
    /// Sessions that are told that something is to stop.
    package var stopHints: [SessionID] = []
    /// Sessions that are told that there is work.
    package var woken: [SessionID] = []
    /// A job that a session was given before it asked for it.
    package var handed: DirectDispatch?

    var touchesHistory = false
    /// A session that waits from the end of the transition on.
    var waitsLater: SessionID?

    package init() {}
}

/// A claim that answers a call which its session has not made yet.
package struct DirectDispatch: Hashable, Sendable {
    package var session: SessionID
    package var call: Int
    package var claim: GivenClaim

    package init(session: SessionID, call: Int, claim: GivenClaim) {
        self.session = session
        self.call = call
        self.claim = claim
    }
}
