/// Stores jobs and moves them between states.
///
/// Each call carries out one batch of transitions atomically and returns the outcome of each. `docs/data-model.md`
/// describes every transition, and one conformance suite tests all brokers against it.
///
/// There are two brokers: `MemoryBroker` in this module, and `RedisBroker` in `ErrandRedis`.
public protocol Broker: PushingBroker, WorkingBroker, SchedulingBroker, ConsoleBroker, StreamingBroker,
    WorkflowBroker
{}

/// The part of a broker that a producer needs: pushing jobs and workflows, watching, finding and cancelling them.
public typealias ProducingBroker = PushingBroker & ConsoleBroker & WorkflowBroker

/// The part of a broker that pushes jobs.
public protocol PushingBroker: Sendable {
    /// Pushes a batch of jobs to one queue, one after the other in the order of the batch.
    ///
    /// Pushing an envelope again with the same id never creates a second job while the first is unfinished, or for a
    /// limited time after it has ended: the outcome is then `exists`.
    ///
    /// - Returns: one receipt for each envelope, in order. If the reply was lost, their outcome is
    ///   ``Receipt/Outcome/unknown``.
    /// - Throws: ``BrokerError`` if the broker certainly accepted none of the jobs, or not those of a group that has no
    ///   room (``BrokerError/Code/full``).
    func push(_ jobs: [JobEnvelope], to queue: String) async throws(BrokerError) -> [Receipt]

    /// Returns the broker's time in milliseconds since 1970 UTC. No other clock decides when a job of the queue is due.
    func now(on queue: String) async throws(BrokerError) -> Int64
}

/// The part of a broker that a worker needs.
public protocol WorkingBroker: TickingBroker {
    /// Registers a session on a queue and starts its lease.
    func register(_ session: Session, on queue: String) async throws(BrokerError)

    /// Reports ended runs and claims new jobs in one step.
    ///
    /// Calls are numbered, so that a call can be sent again: the same number gets the same outcomes and the same
    /// claims.
    ///
    /// - Throws: ``BrokerError`` with code ``BrokerError/Code/sessionLost`` if the session is no longer registered:
    ///   none of its claims exist any more.
    func exchange(_ exchange: Exchange, on queue: String) async throws(BrokerError) -> ExchangeReply

    /// Renews the session's leases from a thread that handlers cannot block, until the heartbeat is stopped.
    ///
    /// Sends the first beat immediately and then one every `interval`. `begun` returns the newest token of a queue for
    /// which a job has begun. `onBeat` is called on the heartbeat's own thread and must not block.
    func startHeartbeat(
        of session: Session,
        on queues: [String],
        every interval: Duration,
        begun: @escaping @Sendable (_ queue: String) -> Token,
        onBeat: @escaping @Sendable (_ queue: String, _ beat: Result<Beat, BrokerError>) -> Void
    ) -> any Heartbeat

    /// Compares the broker's claims of a session with the runs of its worker, and releases claims that the worker does
    /// not have. Those jobs are ready again and spend nothing.
    ///
    /// The two differ after the broker has lost data and returned with an older state, or has recovered a claim
    /// meanwhile.
    ///
    /// - Parameters:
    ///   - session: the session whose claims are compared.
    ///   - call: the number of the session's last exchange. No exchange may be in progress.
    ///   - runs: the id and token of every claim that the worker has and has not reported yet.
    ///   - queue: the queue of the claims.
    /// - Throws: ``BrokerError`` with code ``BrokerError/Code/sessionLost`` if the session is no longer registered.
    func reconcile(
        _ session: Session,
        call: Int,
        runs: [(id: String, token: Token)],
        on queue: String
    ) async throws(BrokerError) -> Reconciliation

    /// Returns the broker's claims of a session, without the jobs' bodies. For workers whose broker cannot deliver a
    /// body.
    ///
    /// A broker that delivers every body need not implement it; the default returns none.
    func claims(of session: Session, on queue: String) async throws(BrokerError) -> [HeldClaim]

    /// Recovers the jobs of one session whose lease has ended, and times out jobs of live sessions past their hard
    /// deadline.
    ///
    /// Any worker may call it at any time; a call does a bounded amount of work.
    func recover(on queue: String) async throws(BrokerError) -> Recovery

    /// Stores the progress or checkpoint of a running job, and publishes progress as an event `progress`.
    ///
    /// - Returns: whether the update was accepted; `false` if the session no longer has the claim.
    func update(_ update: JobUpdate, of session: Session, on queue: String) async throws(BrokerError) -> Bool

    /// Returns the checkpoint of an earlier attempt; `nil` if there is none.
    func checkpoint(of id: String, on queue: String) async throws(BrokerError) -> [UInt8]?

    /// Moves due jobs to the ready list.
    func promote(on queue: String) async throws(BrokerError) -> Promotion

    /// Adds the outcomes and durations of runs, by operation, to the queue's statistics, and a sample of its counts if the
    /// present minute has none.
    ///
    /// Workers call it every few seconds. If a call fails, what it would have added may be lost: statistics are not
    /// exact, unlike a queue's totals. A broker that keeps no statistics need not implement it.
    func record(_ runs: [String: RunStatistics], on queue: String) async throws(BrokerError)

    /// Ends a session and releases its claims: the jobs return to the head of the ready list and spend no attempt.
    func release(_ session: Session, on queue: String) async throws(BrokerError)

    /// Subscribes to wake-ups: there may be work, or a run to stop. Wake-ups may be lost, so callers poll as well.
    func wakeUps(
        for session: Session,
        on queues: [String],
        _ onWakeUp: @escaping @Sendable (WakeUp) -> Void
    ) -> any Subscription
}

extension WorkingBroker {
    /// Returns no claims.
    public func claims(of session: Session, on queue: String) async throws(BrokerError) -> [HeldClaim] { [] }

    /// Records nothing.
    public func record(_ runs: [String: RunStatistics], on queue: String) async throws(BrokerError) {}
}

/// The part of a broker that watches jobs.
public protocol WatchingBroker: Sendable {
    /// Returns the records of these jobs, in order; `nil` for an id that the broker does not have.
    func inspect(_ ids: [String], on queue: String) async throws(BrokerError) -> [JobRecord?]

    /// The events of these queues, or of every queue (also of later ones) if `queues` is `nil`.
    ///
    /// A subscriber that is disconnected or too slow misses events. A disconnected one is subscribed again as long as
    /// it iterates; the stream ends with an error only if the broker does not permit the subscription.
    ///
    /// - Parameters:
    ///   - queues: the queues; `nil` for every queue.
    ///   - onSubscribed: called whenever the broker has confirmed the subscription, also after a disconnection. Events
    ///     after that are received, so a caller that must miss nothing inspects the jobs then. Must not block.
    func events(
        of queues: [String]?,
        onSubscribed: @escaping @Sendable () -> Void
    ) -> AsyncThrowingStream<QueueEvents, any Error>
}

extension WatchingBroker {
    /// The events of these queues, or of every queue (also of later ones) if `queues` is `nil`.
    ///
    /// A subscriber that is disconnected or too slow misses events.
    public func events(of queues: [String]?) -> AsyncThrowingStream<QueueEvents, any Error> {
        events(of: queues, onSubscribed: {})
    }
}

/// The part of a broker that the console needs.
public protocol ConsoleBroker: WatchingBroker {
    /// Returns the names of all queues, sorted.
    func queues() async throws(BrokerError) -> [String]

    /// Creates an empty queue.
    ///
    /// Pushes, workers and schedules create their queues themselves. Use this to configure or display a queue before
    /// that.
    ///
    /// - Returns: whether the queue is new.
    @discardableResult
    func createQueue(_ queue: String) async throws(BrokerError) -> Bool

    /// Returns whether a queue exists: it was pushed to, served, scheduled for or created, and has not been deleted
    /// since.
    func hasQueue(_ queue: String) async throws(BrokerError) -> Bool

    /// Deletes a queue with its settings, counters, history and all other data.
    ///
    /// A worker that serves the queue registers again and thereby creates it again; stop such workers first.
    ///
    /// - Parameters:
    ///   - queue: the queue.
    ///   - force: whether to delete the queue even if it has jobs, live workers or schedules. Its jobs are lost without
    ///     an event.
    @discardableResult
    func deleteQueue(_ queue: String, force: Bool) async throws(BrokerError) -> QueueDeletion

    /// Returns a queue's counts and totals, and the sessions that serve it.
    func status(of queue: String) async throws(BrokerError) -> (queue: QueueStatus, sessions: [SessionStatus])

    /// Returns a queue's past: a sample of its counts from each bucket, and the runs of its operations.
    ///
    /// A broker that keeps no statistics need not implement it; the default returns none.
    ///
    /// ```swift
    /// let now = try await broker.now(on: "mail")
    /// let lastHour = try await broker.statistics(of: "mail", .minutes, from: now - 3_600_000, to: now, withRuns: true)
    /// return lastHour.byOperation["sendEmail"]?.running.percentile(0.95)
    /// ```
    ///
    /// - Parameters:
    ///   - queue: the queue.
    ///   - resolution: the length of the buckets.
    ///   - from: a time within the first bucket, in milliseconds since 1970 UTC.
    ///   - to: a time within the last bucket; at most ``StatisticsResolution/kept`` buckets later.
    ///   - withRuns: whether the runs are returned, too; they are much more than the samples.
    func statistics(
        of queue: String,
        _ resolution: StatisticsResolution,
        from: Int64,
        to: Int64,
        withRuns: Bool
    ) async throws(BrokerError) -> QueueStatistics

    /// Returns the runs of each operation since the queue was created, or its statistics were kept.
    ///
    /// A broker that keeps no statistics need not implement it; the default returns none.
    func runTotals(of queue: String) async throws(BrokerError) -> [String: RunStatistics]

    /// Returns one page of the jobs in a state. Jobs may move between two pages.
    ///
    /// - Parameters:
    ///   - state: the state of the jobs.
    ///   - queue: the queue of the jobs.
    ///   - cursor: the position to begin at: 0, or ``JobPage/next`` of the previous page.
    ///   - count: the number of entries to look at, at most 500.
    func jobs(
        in state: JobState,
        on queue: String,
        from cursor: Int,
        count: Int
    ) async throws(BrokerError) -> JobPage

    /// Cancels jobs. Waiting jobs end immediately; running jobs are asked to stop.
    func cancel(_ ids: [String], on queue: String) async throws(BrokerError) -> [EndingOutcome]

    /// Removes jobs that are waiting, dead or ended. A running job must be cancelled first.
    func delete(_ ids: [String], on queue: String) async throws(BrokerError) -> [EndingOutcome]

    /// Retries dead jobs with fresh attempts, if their name is free. Their errors are kept, up to the usual ten.
    ///
    /// Scheduled jobs and jobs that wait for a retry become ready immediately, with their attempts unchanged.
    func retry(_ ids: [String], on queue: String) async throws(BrokerError) -> [RetryOutcome]

    /// Cancels waiting jobs, a bounded number in a call. It also cancels deferred jobs; the running job that such a job
    /// waited for goes on.
    ///
    /// - Returns: the number of cancelled jobs; 0 if none is left.
    func clear(_ queue: String) async throws(BrokerError) -> Int

    /// Changes a queue's settings. A setting that is `nil` stays unchanged.
    ///
    /// - Throws: ``BrokerError`` with code ``BrokerError/Code/queueNotFound`` if the queue does not exist; see
    ///   ``createQueue(_:)``.
    func configure(_ queue: String, _ change: QueueSettings) async throws(BrokerError)

    /// Sets the rule for the groups of a queue whose names match a pattern, instead of the rule that the pattern had.
    ///
    /// It applies from the next claim on, also to jobs that wait already. A queue that does not exist is created.
    ///
    /// - Parameters:
    ///   - queue: the queue.
    ///   - pattern: one or two parts with a slash between, in which `*` stands for any characters but the slash. If several
    ///     patterns match, the one with the longest text before its first `*` applies.
    ///   - rule: the rule.
    /// - Throws: ``BrokerError`` with code ``BrokerError/Code/refused`` if the pattern or the rule is invalid, or if it would
    ///   be unclear whether this or another pattern applies.
    func setFlow(_ queue: String, matching pattern: String, _ rule: FlowRule) async throws(BrokerError)

    /// Deletes the rule of a pattern. Its limits end with it.
    ///
    /// - Returns: whether there was one.
    @discardableResult
    func deleteFlow(_ queue: String, matching pattern: String) async throws(BrokerError) -> Bool

    /// Returns the rules of a queue, sorted by pattern.
    func flow(of queue: String) async throws(BrokerError) -> [FlowPattern]

    /// Returns groups of a queue: one, whether it has jobs or not, or those with the most waiting jobs first.
    ///
    /// Of a queue with more than 20,000 groups, those with the fewest waiting jobs are not counted.
    ///
    /// - Parameters:
    ///   - queue: the queue.
    ///   - group: the name of a group, or of the first part of some; `nil` for those with the most jobs; empty for the
    ///     whole queue, without the number of waiting jobs.
    ///   - most: the largest number of groups, at most 1,000.
    func groups(of queue: String, named group: String?, most: Int) async throws(BrokerError) -> [GroupStatus]

    /// Checks the invariants of a queue's data, and repairs corrupt data if `repair` is true.
    func audit(_ queue: String, repair: Bool) async throws(BrokerError) -> [Finding]
}

extension ConsoleBroker {
    /// Returns no statistics.
    public func statistics(
        of queue: String,
        _ resolution: StatisticsResolution,
        from: Int64,
        to: Int64,
        withRuns: Bool
    ) async throws(BrokerError) -> QueueStatistics { QueueStatistics() }

    /// Returns no runs.
    public func runTotals(of queue: String) async throws(BrokerError) -> [String: RunStatistics] { [:] }
}

/// A heartbeat that runs until it is stopped.
public protocol Heartbeat: Sendable {
    /// Sends a beat immediately, without waiting for the interval, for instance after a wake-up for a cancelled job.
    func beatNow()
    /// Stops the heartbeat. Returns immediately.
    func stop()
}

/// A subscription that runs until it is cancelled.
public protocol Subscription: Sendable {
    /// Ends the subscription. Returns immediately.
    func cancel()
}

/// A message that there may be work or a run to stop.
public enum WakeUp: Sendable, Equatable {
    /// There may be jobs in this queue.
    case work(queue: String)
    /// A push has pre-answered the session's next call: it has claimed the job already. The session need not make the
    /// call; if this wake-up is lost, the call returns the same claim.
    case claimed(queue: String, call: Int, claim: Claim)
    /// A running job of this session in this queue may have been asked to stop.
    case stop(queue: String)
}
