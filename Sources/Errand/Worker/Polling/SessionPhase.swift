import Synchronization

/// How far a session has come, and why it ends before the worker has drained.
final class SessionPhase: Sendable {
    let shutdown: Shutdown
    private let lost = Atomic(false)
    private let over = Atomic(false)
    private let reasons = Mutex<(loss: BrokerError?, refusal: BrokerError?)>((nil, nil))

    init(_ shutdown: Shutdown) { self.shutdown = shutdown }

    /// Whether the broker no longer has the session.
    var isLost: Bool { lost.load(ordering: .acquiring) }
    /// Whether the pollers have ended.
    var isOver: Bool { over.load(ordering: .acquiring) }
    /// Whether the worker claims no more jobs.
    var isDraining: Bool { shutdown.isRequested }
    /// Whether running jobs have to stop.
    var isUrgent: Bool { shutdown.isUrgent }
    /// Whether the time for a graceful end is over.
    var mustLeave: Bool { shutdown.isOverdue }
    /// The first error that ended the session.
    var loss: BrokerError? { reasons.withLock { $0.loss } }
    /// The first missing permission, which a new session would not help.
    var refusal: BrokerError? { reasons.withLock { $0.refusal } }

    /// Notes that the session is lost. Returns whether that is new; after the pollers' end it does not matter.
    func lose(because error: BrokerError) -> Bool {
        let isOver = isOver
        let isFirst = reasons.withLock { reasons in
            guard !isOver, reasons.loss == nil else { return false }
            reasons.loss = error
            return true
        }
        if isFirst { lost.store(true, ordering: .releasing) }
        return isFirst
    }

    /// Notes that a call is not permitted. Returns whether it is the first one.
    func note(refusal: BrokerError) -> Bool {
        reasons.withLock { reasons in
            defer { reasons.refusal = reasons.refusal ?? refusal }
            return reasons.refusal == nil
        }
    }

    /// Notes that the pollers have ended.
    func end() { over.store(true, ordering: .releasing) }
}
