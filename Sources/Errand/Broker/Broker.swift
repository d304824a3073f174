/// The seam between Errand and whatever keeps the jobs.
///
/// A broker is told in transitions: each call moves a batch of jobs from one state to the next, atomically, and says
/// what became of each. `docs/data-model.md` describes every transition; one conformance suite holds all brokers to it.
///
/// Two brokers ship: `MemoryBroker` here, and `RedisBroker` in `ErrandRedis`.
public protocol Broker: PushingBroker, WorkingBroker, SchedulingBroker, ConsoleBroker, StreamingBroker {}

/// What a producer needs of a broker: to push jobs, and to see what became of them.
public typealias ProducingBroker = PushingBroker & WatchingBroker

/// What it takes to push jobs.
public protocol PushingBroker: Sendable {
    /// Hands over a batch of jobs for one queue, decided one after the other in the order of the batch.
    ///
    /// Pushing an envelope again with the same id never makes a second job while the first is unfinished, or for a
    /// stated time after it ended: the answer is then `exists`.
    ///
    /// - Returns: one receipt per envelope, in order. Where the answer was lost on the way, the receipts' outcome is
    ///   ``Receipt/Outcome/unknown``.
    /// - Throws: ``BrokerError`` when the broker certainly took none of them.
    func push(_ jobs: [JobEnvelope], to queue: String) async throws(BrokerError) -> [Receipt]

    /// The broker's time in milliseconds since 1970 UTC: the only clock that decides when a job is due.
    func now() async throws(BrokerError) -> Int64
}

/// What a worker needs of a broker.
public protocol WorkingBroker: TickingBroker {
    /// Makes a session known on a queue; its lease begins.
    func register(_ session: Session, on queue: String) async throws(BrokerError)

    /// Reports ended runs and claims new jobs in one step.
    ///
    /// Numbered calls make this safe to resend: the same call number gets the same verdicts and the same claims.
    ///
    /// - Throws: ``BrokerError`` with code ``BrokerError/Code/sessionLost`` when the session is no longer registered:
    ///   none of its claims exist any more.
    func exchange(_ exchange: Exchange, on queue: String) async throws(BrokerError) -> ExchangeReply

    /// Keeps the session's leases alive from a thread that handlers cannot block, until the heartbeat is stopped.
    ///
    /// The first beat is sent at once and then every `interval`. `onBeat` is called on the heartbeat's own thread and
    /// must not block.
    func startHeartbeat(
        of session: Session,
        on queues: [String],
        every interval: Duration,
        begun: @escaping @Sendable (_ queue: String) -> Token,
        onBeat: @escaping @Sendable (_ queue: String, _ beat: Result<Beat, BrokerError>) -> Void
    ) -> any Heartbeat

    /// Compares the claims that the broker keeps of a session with the runs that its worker knows, and settles the
    /// difference: claims that the worker does not know go back in line with nothing spent.
    ///
    /// They differ after the broker has lost data and came back with an older state, or took a claim back meanwhile.
    ///
    /// - Parameters:
    ///   - session: the session whose claims are compared.
    ///   - call: the number of the session's last exchange. Must be called between two exchanges.
    ///   - runs: the id and token of every claim that the worker has, and has not reported yet.
    ///   - queue: the queue in which.
    /// - Throws: ``BrokerError`` with code ``BrokerError/Code/sessionLost`` when the session is no longer registered.
    func reconcile(
        _ session: Session,
        call: Int,
        runs: [(id: String, token: Token)],
        on queue: String
    ) async throws(BrokerError) -> Reconciliation

    /// The claims that the broker keeps of a session, without the jobs' bodies. For a worker whose broker cannot deliver a body.
    ///
    /// A broker that delivers every body need not implement it: without, none are returned.
    func claims(of session: Session, on queue: String) async throws(BrokerError) -> [HeldClaim]

    /// Takes back the jobs of one session whose lease has ended, and jobs of live sessions past their hard deadline.
    ///
    /// Any worker may call it at any time; it does a bounded amount of work per call.
    func recover(on queue: String) async throws(BrokerError) -> Recovery

    /// Keeps what a running job tells of itself, and publishes its progress as an event `progress`.
    ///
    /// - Returns: whether it counted; `false` means that the claim is not this session's any more.
    func update(_ update: JobUpdate, of session: Session, on queue: String) async throws(BrokerError) -> Bool

    /// What an earlier attempt has left for the next one; `nil` when there is nothing.
    func checkpoint(of id: String, on queue: String) async throws(BrokerError) -> [UInt8]?

    /// Moves jobs that are due into the line.
    func promote(on queue: String) async throws(BrokerError) -> Promotion

    /// Ends a session: whatever it still holds goes back to the head of the line, with its attempts unspent.
    func release(_ session: Session, on queue: String) async throws(BrokerError)

    /// Tells when there may be work, or something to stop: a hint that may be lost, so callers poll as well.
    func wakeUps(
        for session: Session,
        on queues: [String],
        _ onHint: @escaping @Sendable (WakeUp) -> Void
    ) -> any Subscription
}

extension WorkingBroker {
    /// None.
    public func claims(of session: Session, on queue: String) async throws(BrokerError) -> [HeldClaim] { [] }
}

/// What it takes to watch jobs.
public protocol WatchingBroker: Sendable {
    /// What the broker knows of these jobs; `nil` for an id it does not know.
    func inspect(_ ids: [String], on queue: String) async throws(BrokerError) -> [JobRecord?]

    /// The events of these queues, or of every queue (also later ones) when `queues` is `nil`.
    ///
    /// Events are hints: a subscriber that is cut off or too slow misses some. It is subscribed again for as long as it listens; only where
    /// the broker does not permit it to, the stream ends with that error.
    ///
    /// - Parameters:
    ///   - queues: whose events; of every queue when `nil`.
    ///   - onSubscribed: called whenever the broker has confirmed the subscription, also after it was cut off: what happens from
    ///     then on is heard, so whoever must miss nothing looks at the jobs then. Must not block.
    func events(
        of queues: [String]?,
        onSubscribed: @escaping @Sendable () -> Void
    ) -> AsyncThrowingStream<QueueEvents, any Error>
}

extension WatchingBroker {
    /// The events of these queues, or of every queue (also later ones) when `queues` is `nil`.
    ///
    /// Events are hints: a subscriber that is cut off or too slow misses some.
    public func events(of queues: [String]?) -> AsyncThrowingStream<QueueEvents, any Error> {
        events(of: queues, onSubscribed: {})
    }
}

/// What the console needs of a broker.
public protocol ConsoleBroker: WatchingBroker {
    /// The queues that the broker has heard of, sorted by name.
    func queues() async throws(BrokerError) -> [String]

    /// Creates an empty queue.
    ///
    /// Pushes, workers and schedules create their queues themselves. This is for queues that are to be configured or seen
    /// before that.
    ///
    /// - Returns: whether it did not exist before.
    @discardableResult
    func createQueue(_ queue: String) async throws(BrokerError) -> Bool

    /// Returns whether a queue exists: it was pushed to, served, scheduled for or created, and not deleted since.
    func hasQueue(_ queue: String) async throws(BrokerError) -> Bool

    /// Deletes a queue with its settings, counters, history and everything else that is kept of it.
    ///
    /// A worker that serves it registers again and so creates it anew; stop such workers first.
    ///
    /// - Parameters:
    ///   - queue: the queue.
    ///   - force: whether to delete it even though it has jobs, live workers or schedules. Its jobs are lost, and no events
    ///     tell of it.
    @discardableResult
    func deleteQueue(_ queue: String, force: Bool) async throws(BrokerError) -> QueueDeletion

    /// A queue's counts and totals, and the sessions that serve it.
    func status(of queue: String) async throws(BrokerError) -> (queue: QueueStatus, sessions: [SessionStatus])

    /// One page of the jobs in a state. What was in the way of the page may have changed when the next one is read.
    ///
    /// - Parameters:
    ///   - state: which jobs.
    ///   - queue: the queue in which.
    ///   - cursor: the position to begin at: 0, or ``JobPage/next`` of the page before.
    ///   - count: how many to look at, at the most 500.
    func jobs(
        in state: JobState,
        on queue: String,
        from cursor: Int,
        count: Int
    ) async throws(BrokerError) -> JobPage

    /// Cancels jobs: those that wait end at once, those that run are told to stop.
    func cancel(_ ids: [String], on queue: String) async throws(BrokerError) -> [EndingOutcome]

    /// Removes jobs that wait, are dead, or have ended. A running job must be cancelled first.
    func delete(_ ids: [String], on queue: String) async throws(BrokerError) -> [EndingOutcome]

    /// Puts dead jobs back in line with fresh attempts, when their name is free; their errors are kept, up to the usual ten.
    /// Jobs that are scheduled or wait for another attempt come into line at once, with their attempts as they are.
    func retry(_ ids: [String], on queue: String) async throws(BrokerError) -> [RetryOutcome]

    /// Cancels waiting jobs, a bounded number at a time: also those that wait for the end of another one's run, which then goes
    /// on.
    ///
    /// - Returns: how many were cancelled; 0 when none is left.
    func clear(_ queue: String) async throws(BrokerError) -> Int

    /// Changes a queue's settings; `nil` leaves one as it is.
    ///
    /// - Throws: ``BrokerError`` with code ``BrokerError/Code/queueNotFound`` when the queue does not exist; see
    ///   ``createQueue(_:)``.
    func configure(_ queue: String, _ change: QueueSettings) async throws(BrokerError)

    /// Looks for broken invariants in a queue's data, and mends them when `repair` is true.
    func audit(_ queue: String, repair: Bool) async throws(BrokerError) -> [Finding]
}

/// A heartbeat that runs until it is stopped.
public protocol Heartbeat: Sendable {
    /// Sends a beat now instead of when the interval is over, for instance because a hint said that a job was
    /// cancelled.
    func beatNow()
    /// Stops beating. Returns at once.
    func stop()
}

/// A subscription that runs until it is cancelled.
public protocol Subscription: Sendable {
    /// Ends the subscription. Returns at once.
    func cancel()
}

/// What a hint says.
public enum WakeUp: Sendable, Equatable {
    /// There may be jobs in this queue.
    case work(queue: String)
    /// A push has answered the session's next call before it was made: the job is claimed for it already. The call need not be made
    /// any more; if this hint is lost, it has the same answer.
    case claimed(queue: String, call: Int, claim: Claim)
    /// A running job of this session in this queue may have been told to stop.
    case stop(queue: String)
}
