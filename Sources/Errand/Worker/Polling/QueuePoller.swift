import Backgroundable
import Logging
import Synchronization

/// A worker's dealings with one queue within one session: it reports what ended and claims as much again, one numbered
/// call after the other, for as long as the session lives.
final class QueuePoller: Sendable {
    struct Held {
        var runs: [String: JobRun] = [:]
        var reports: [OutcomeReport] = []
        /// Claims of the last answer that are not runs yet.
        var unread = 0
        /// What is compared with the broker's account.
        var account = ClaimAccount()
        /// What a push has answered to a call that is yet to be made.
        var handed: DirectDispatch?
        /// How many jobs a call may ask for.
        var limit = ClaimLimit()

        /// The claims of which this worker knows, but for those that are reported with the call that is under way.
        var known: Int { runs.count + reports.count + unread }
    }

    let queue: String
    let index: Int
    let workerSession: WorkerSession
    let held = Mutex(Held())
    let begun = Atomic<Token>(0)
    /// Raised when there may be something to do: a hint, an ended run, an open slot, the end.
    let signal = Signal()
    /// Whether the signal was for this queue's sake. An open slot says nothing of its jobs: pollers that find nothing pass the slots
    /// round, and would keep each other from ever resting.
    let hasNews = Atomic(false)
    /// Raised when so many reports wait that they are worth a call.
    let enough = Signal()

    init(_ queue: String, index: Int, workerSession: WorkerSession) {
        self.queue = queue
        self.index = index
        self.workerSession = workerSession
    }

    /// The newest token of which a job has begun.
    var begunToken: Token { begun.load(ordering: .relaxed) }

    /// A slot may be open, or the end may have come.
    func wake() { signal.raise() }

    /// There may be jobs in line.
    func hurry() {
        hasNews.store(true, ordering: .relaxed)
        signal.raise()
    }

    /// Works until the session ends, or the worker drains and nothing is held any more.
    ///
    /// An answer is digested while the next call is under way already, so that neither the broker nor the worker waits for
    /// the other one. Only where few jobs were left in line they come first, for the next call would hardly find more, and
    /// would keep a processor from them.
    func work() async throws(BrokerError) {
        var call = 0
        var poll = PollPause(longest: workerSession.configuration.longestPoll)
        var undigested: Digest?
        var hasWaited = false
        // Whether a push may answer the next call: who leaves must know that none has.
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
            // They begin at once, and the broker counts them as begun; the next call, which goes out before, must not deny it.
            if freeSlots > 0, let token = answer.claims.first?.token { noteBegun(token) }
            isOpen = exchange.acceptsDirectDispatch && answer.claims.isEmpty
            if answer.isPreanswered { putBack(reports) }
            undigested = Digest(
                reports: answer.isPreanswered ? [] : reports,
                accepted: answer.accepted,
                claims: answer.claims,
                // What came late was claimed at some time since the answer before.
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
            // Its free slots are its own only where no other queue can take them.
            acceptsDirectDispatch: freeSlots > 0 && wanted > 0 && workerSession.configuration.queues.count == 1
        )
    }

    /// Puts due jobs in line. Answers whether there were any.
    private func promote() async -> Bool {
        do { return try await workerSession.broker.promote(on: queue).promoted > 0 } catch {
            workerSession.logger.debug("nothing promoted", metadata: ["job.queue": "\(queue)", "error": "\(error)"])
            return false
        }
    }
}
