import Backgroundable
import Logging
import Synchronization

/// Polls one queue within a session: reports ended runs and claims as many new jobs, one numbered call after the other,
/// as long as the session lives.
final class QueuePoller: Sendable {
    struct Held {
        var runs: [String: JobRun] = [:]
        var reports: [OutcomeReport] = []
        /// The number of claims of the last reply that are not runs yet.
        var unread = 0
        /// The comparison with the broker's claims.
        var account = ClaimAccount()
        /// A claim with which a push has pre-answered the next call.
        var handed: DirectDispatch?
        /// The number of jobs that a call may ask for.
        var limit = ClaimLimit()

        /// The number of claims that this worker has, except those that the current call reports.
        var known: Int { runs.count + reports.count + unread }
    }

    let queue: String
    let index: Int
    let workerSession: WorkerSession
    let held = Mutex(Held())
    let begun = Atomic<Token>(0)
    /// Raised when there may be something to do: a wake-up, an ended run, a free slot, or the end.
    let signal = Signal()
    /// Whether the signal concerns this queue's jobs. A free slot does not: pollers without work would otherwise pass
    /// it around and never pause.
    let hasNews = Atomic(false)
    /// Raised when enough reports are waiting to be worth a call.
    let enough = Signal()

    init(_ queue: String, index: Int, workerSession: WorkerSession) {
        self.queue = queue
        self.index = index
        self.workerSession = workerSession
    }

    /// The newest token for which a job has begun.
    var begunToken: Token { begun.load(ordering: .relaxed) }

    /// Continues because a slot may be free, or the end may have come.
    func wake() { signal.raise() }

    /// Continues because there may be ready jobs.
    func hurry() {
        hasNews.store(true, ordering: .relaxed)
        signal.raise()
    }

    /// Works until the session ends, or the worker drains and has no jobs left.
    ///
    /// A reply is made into runs while the next call is already in progress, so that neither the broker nor the worker
    /// waits for the other. If a reply has few jobs, they come first: the next call would hardly find more, and would
    /// take processor time from them.
    func work() async throws(BrokerError) {
        var call = 0
        var poll = PollPause(longest: workerSession.configuration.longestPoll)
        var undigested: Digest?
        var hasWaited = false
        // Whether a push may pre-answer the next call. A poller that leaves must be sure that none has.
        var isOpen = false
        var answered = ContinuousClock.now
        while !workerSession.isLost {
            if let handed = takeHanded(answering: call + 1) {
                call += 1
                if let last = undigested.take() { digest(last) }
                await begin(handed)
                (hasWaited, isOpen) = (true, false)
                poll.note(found: true, hurries: false)
                continue
            }
            let reports = await takeReports(gathering: undigested == nil && !hasWaited)
            hasWaited = false
            let (wanted, freeSlots) = workerSession.isDraining || !poll.isOver ? (0, 0) : grant()
            guard !reports.isEmpty || wanted > 0 || (workerSession.isDraining && isOpen) else {
                if let last = undigested.take() {
                    digest(last)
                    continue
                }
                if workerSession.isDraining {
                    if isOpen { continue }
                    if isEmpty { return }
                }
                if held.withLock({ $0.account.isInDoubt }) { try await reconcile(call) }
                await signal.wait(for: poll.rest)
                if hasNews.exchange(false, ordering: .relaxed) { poll.hurry() }
                continue
            }
            call += 1
            let exchange = exchange(call, reports, wanted, freeSlots)
            held.withLock { $0.account.begin(reports: reports.count, wanted: wanted) }
            let last = undigested.take()
            let asked = ContinuousClock.now
            let answer: ExchangeReply
            do throws(BrokerError) { answer = try await send(exchange, digesting: last) } catch {
                if mayLeave(exchange, because: error) { return }
                throw error
            }
            // These jobs begin at once, and the broker counts them as begun. The next call goes out before that and
            // must not contradict it.
            if freeSlots > 0, let token = answer.claims.first?.token { noteBegun(token) }
            isOpen = exchange.acceptsDirectDispatch && answer.claims.isEmpty
            if answer.isPreanswered { putBack(reports) }
            undigested = Digest(
                reports: answer.isPreanswered ? [] : reports,
                accepted: answer.accepted,
                claims: answer.claims,
                // A pre-answered job was claimed at some time since the previous reply.
                since: answer.isPreanswered ? answered : asked
            )
            answered = .now
            held.withLock { held in
                held.unread = answer.claims.count
                held.account.end(claims: answer.claims.count)
            }
            if held.withLock({ $0.account.isInDoubt }) {
                if let last = undigested.take() { digest(last) }
                try await reconcile(call)
            }
            if Self.areFew(answer.claims, of: wanted), let last = undigested.take() {
                await digestFew(last)
                hasWaited = true
            }
            let hurries = answer.hasDueJobs ? await promote() : false
            if wanted > 0 { poll.note(found: !answer.claims.isEmpty, hurries: hurries || answer.hasMore) }
        }
        throw BrokerError(.sessionLost, "the broker does not know this session any more")
    }

    private func grant() -> (wanted: Int, freeSlots: Int) {
        workerSession.budget.grant(to: index, atMost: held.withLock { $0.limit.current() })
    }

    private func exchange(_ call: Int, _ reports: [OutcomeReport], _ wanted: Int, _ freeSlots: Int) -> Exchange {
        Exchange(
            session: workerSession.session,
            call: call,
            reports: reports,
            wanted: wanted,
            freeSlots: freeSlots,
            begun: begunToken,
            longestWait: patience,
            stopGrace: workerSession.configuration.stopGrace,
            // Only a session with a single queue can be sure that its free slots stay free.
            acceptsDirectDispatch: freeSlots > 0 && wanted > 0 && workerSession.configuration.queues.count == 1
        )
    }

    /// Promotes due jobs. Returns whether there were any.
    private func promote() async -> Bool {
        do { return try await workerSession.broker.promote(on: queue).promoted > 0 } catch {
            workerSession.logger.debug("nothing promoted", metadata: ["job.queue": "\(queue)", "error": "\(error)"])
            return false
        }
    }
}
