/// The protocol of a worker with the broker for one queue of a session, as a value without I/O.
///
/// Its owner notes what happens (a reply, the end of a run, a wake-up, the worker's drain), asks for the next step and
/// executes that. ``QueuePoller`` does so with threads and a network; a simulation can do it in virtual time.
package struct PollerState<Run: ClaimedRun>: Sendable {
    let session: Session
    /// The time limits.
    package let limits: PollerLimits
    let slots: SlotShare

    /// Whether the broker no longer has the session.
    package var isLost = false
    /// Whether the worker claims no more jobs.
    package var isDraining = false

    /// The number of the last call.
    package private(set) var call = 0
    /// The last call while it is not answered.
    package internal(set) var sent: Exchange?
    /// The number of jobs for which slots are reserved until the call is answered.
    var granted = 0
    var sentAt: ContinuousClock.Instant
    var answeredAt: ContinuousClock.Instant
    var unread: UnreadReply?
    /// Whether a push may pre-answer the next call. A poller that leaves must be sure that none has.
    var mayBePreanswered = false
    /// A claim with which a push has pre-answered the next call.
    var dispatched: DirectDispatch?
    /// Whether the last reply said that jobs are due.
    var hasDueJobs = false
    /// Whether jobs wait that are only claimed for a free slot.
    var awaitsFreeSlot = false

    /// The runs, by their jobs' ids.
    package internal(set) var runs: [String: Run] = [:]
    /// The reports of ended runs, for the next call.
    package internal(set) var reports: [OutcomeReport] = []
    /// The number of claims of the last reply that are not runs yet.
    var unreadClaims = 0
    var account = ClaimAccount()
    var claimLimit = ClaimLimit()

    var poll: PollPause
    /// Whether there may be ready jobs. A free slot is no such news: pollers without work would otherwise pass it around
    /// and never pause.
    var hasNews = false
    /// Whether the steps that follow a reply are not over.
    var followsReply = false
    var attention = Attention.acting
    /// Whether the last steps have run a reply with few jobs, and waited.
    var ranFew = false
    /// Whether the last step gathers reports.
    var hasGathered = false

    /// Makes the state before the first call.
    package init(
        session: Session,
        limits: PollerLimits,
        slots: SlotShare,
        looksAt times: WakeUpTimes,
        at now: ContinuousClock.Instant = .now
    ) {
        self.session = session
        self.limits = limits
        self.slots = slots
        sentAt = now
        answeredAt = now
        poll = PollPause(longest: limits.longestPoll, times: times, at: now)
    }

    /// The number of claims that this worker has, except those that the current call reports.
    package var known: Int { runs.count + reports.count + unreadClaims }

    /// Returns the next step. While a call is not answered, there is none but to wait.
    ///
    /// A reply is made into runs while the next call is already in progress, so that neither the broker nor the worker
    /// waits for the other. If a reply has few jobs, they come first: the next call would hardly find more, and would
    /// take processor time from them.
    ///
    /// - Parameters:
    ///   - now: the time.
    ///   - begun: the newest token for which a job has begun.
    package mutating func next(at now: ContinuousClock.Instant, begun: Token) -> PollerStep {
        takeNews(at: now)
        let former = attention
        if former == .replaced { return .wait(limits.longestPoll) }
        attention = .acting
        if isLost { return .finish }
        if sent != nil { return .wait(limits.longestPoll) }
        if former == .relieved { return .wait(.milliseconds(1)) }
        return stepAfterReply() ?? stepOfDispatch(at: now) ?? stepBeforeReports() ?? nextCall(at: now, begun)
            ?? stepWithoutCall(at: now)
    }

    private mutating func takeNews(at now: ContinuousClock.Instant) {
        // After a reply with jobs the next call asks for more in any case.
        if hasNews, !ranFew { poll.hurry(at: now) }
        hasNews = false
    }

    private mutating func stepAfterReply() -> PollerStep? {
        // Reports come first, unless a reply has just shown the doubt: a busy poller always has some.
        if account.isInDoubt, followsReply || reports.isEmpty { return takeUnread() ?? .reconcile(call: call) }
        if unread?.areFew == true { return takeUnread(thenWaits: true) }
        if hasDueJobs {
            hasDueJobs = false
            return .promote
        }
        return nil
    }

    private mutating func takeUnread(thenWaits: Bool = false) -> PollerStep? {
        guard let reply = unread.take() else { return nil }
        ranFew = thenWaits
        return .run(reply, thenWaits: thenWaits)
    }

    /// Returns the run of a directly dispatched job, if it answers the next call. A dispatch for an earlier call is
    /// dropped, because that call has returned the same claim.
    mutating func stepOfDispatch(at now: ContinuousClock.Instant) -> PollerStep? {
        guard let dispatched, dispatched.call == call + 1 else {
            dispatched = nil
            return nil
        }
        if let step = takeUnread() { return step }
        self.dispatched = nil
        call += 1
        unreadClaims += 1
        account.note(known: known)
        slots.settle(wanted: 0, got: 1, looked: true)
        (ranFew, mayBePreanswered) = (true, false)
        poll.note(found: true, hurries: false, at: now)
        let claim = dispatched.claim
        // For the next beat, which otherwise would not show that this worker has the job.
        let begun = now <= limits.latestBegin(dispatched.since) ? claim.token : nil
        return .run(UnreadReply(claims: [claim], begun: begun, since: dispatched.since), thenWaits: true)
    }

    /// Gathers reports if there is other work to do, until none of this queue's jobs is left. The jobs of a small reply
    /// begin before.
    private mutating func stepBeforeReports() -> PollerStep? {
        let hasWaited = ranFew || hasGathered
        (followsReply, ranFew, hasGathered) = (false, false, false)
        guard !hasWaited, !isDraining, (1..<PollerLimits.worthACall).contains(reports.count),
            unread?.isWorthACall != true, let longest = slots.budget.gatheringTime
        else { return nil }
        if let step = takeUnread() { return step }
        guard !runs.isEmpty else { return nil }
        hasGathered = true
        return .gather(longest)
    }

    private mutating func nextCall(at now: ContinuousClock.Instant, _ begun: Token) -> PollerStep? {
        let reports = takeReports()
        let (wanted, freeSlots) = claimable(at: now)
        guard !reports.isEmpty || wanted > 0 || (isDraining && mayBePreanswered) else { return nil }
        call += 1
        granted = wanted
        sentAt = now
        account.begin(reports: reports.count, wanted: wanted)
        let exchange = Exchange(
            session: session,
            call: call,
            reports: reports,
            wanted: wanted,
            freeSlots: freeSlots,
            // The jobs of the previous reply for which slots are free begin at once. This call may arrive before that.
            begun: max(begun, unread?.begun ?? 0),
            longestWait: limits.longestClaimWait,
            stopGrace: limits.stopGrace,
            // Only a session with a single queue can be sure that its free slots stay free.
            acceptsDirectDispatch: freeSlots > 0 && wanted > 0 && session.queues.count == 1
        )
        sent = exchange
        return .send(exchange, running: unread.take())
    }

    /// Returns how many jobs to ask for, and how many of them would begin at once.
    private mutating func claimable(at now: ContinuousClock.Instant) -> (wanted: Int, freeSlots: Int) {
        guard !isDraining, poll.isOver(at: now), !awaitsFreeSlot || slots.hasFreeSlot else { return (0, 0) }
        let isBusy = !runs.isEmpty || unreadClaims > 0
        let grant = slots.grant(atMost: claimLimit.current(at: now), isBusy: isBusy)
        if grant.wanted > 0 { awaitsFreeSlot = false }
        return grant
    }

    private mutating func takeReports() -> [OutcomeReport] {
        var taken: [OutcomeReport] = []
        swap(&taken, &reports)
        if taken.count > SlotBudget.claimsAtMost {
            reports = Array(taken.dropFirst(SlotBudget.claimsAtMost))
            taken.removeLast(reports.count)
        }
        if !taken.isEmpty { slots.free(taken.count) }
        return taken
    }

    private mutating func stepWithoutCall(at now: ContinuousClock.Instant) -> PollerStep {
        if let step = takeUnread() { return step }
        if isDraining && known == 0 { return .finish }
        attention = .waiting
        return .wait(poll.rest(at: now))
    }
}

/// Whether a poller may act, or another thread begins a dispatched job in its place.
enum Attention {
    /// It decides or executes a step.
    case acting
    /// It waits for something to do.
    case waiting
    /// Another thread begins a job, whose claim is not a run yet. The poller must not act.
    case replaced
    /// Another thread has just begun a job.
    case relieved
}

/// A claimed job in a worker.
package protocol ClaimedRun: Sendable {
    /// The job's id.
    var id: String { get }
    /// The claim's number.
    var token: Token { get }
}

/// The time limits of a poller.
package struct PollerLimits: Sendable {
    /// The number of reports that is worth a call even while there is other work to do, and of jobs that is worth one while
    /// they are made into runs.
    static let worthACall = 128
    /// Up to this limit, making runs of claims takes less time than a call.
    static let fewClaims = 16
    static let fewBytes = 64 * 1024
    /// A session with more queues looks for work less often.
    static let manyQueues = 50

    /// The longest time between two calls that claim.
    let longestPoll: Duration
    /// How long a claim may wait for its run to begin. The hard deadline includes this time.
    let longestClaimWait: Duration
    /// How long a run may take to stop.
    let stopGrace: Duration

    /// Makes limits.
    package init(longestPoll: Duration, longestClaimWait: Duration, stopGrace: Duration) {
        (self.longestPoll, self.longestClaimWait, self.stopGrace) = (longestPoll, longestClaimWait, stopGrace)
    }

    /// Makes the limits of a worker. The round trips, and a suspension of the process for a lease, count as waiting.
    init(_ configuration: WorkerConfiguration) {
        self.init(
            longestPoll: configuration.longestPoll * ((configuration.queues.count - 1) / Self.manyQueues + 1),
            longestClaimWait: configuration.longestWait + .seconds(3) + configuration.lease,
            stopGrace: configuration.stopGrace
        )
    }

    /// The latest time for a run to begin. A job that has not begun by then is released, because the broker would later
    /// time it out although its own time is not over.
    package func latestBegin(_ claimedAt: ContinuousClock.Instant) -> ContinuousClock.Instant {
        claimedAt + longestClaimWait
    }
}
