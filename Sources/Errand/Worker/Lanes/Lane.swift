import Backgroundable
import Logging
import Synchronization

/// A worker's dealings with one queue within one session: it reports what ended and claims as much again, one numbered
/// call after the other, for as long as the session lives.
final class Lane: Sendable {
    struct Held {
        var runs: [String: JobRun] = [:]
        var reports: [OutcomeReport] = []
        /// Claims of the last answer that are not runs yet.
        var unread = 0
        /// What is compared with the broker's account.
        var account = ClaimAccount()
        /// What a push has answered to a call that is yet to be made.
        var handed: Handed?
        /// How many jobs a call may ask for.
        var limit = ClaimLimit()

        /// The claims of which this worker knows, but for those that are reported with the call that is under way.
        var known: Int { runs.count + reports.count + unread }
    }

    /// Reports that are worth a call even while there is other work to do.
    private static let worthACall = 128
    private static let takenTogether = 64

    let queue: String
    let index: Int
    let epoch: SessionEpoch
    let held = Mutex(Held())
    private let begun = Atomic<Token>(0)
    /// Raised when there may be something to do: a hint, an ended run, an open slot, the end.
    let signal = Signal()
    /// Whether the signal was for this queue's sake. An open slot says nothing of its jobs: lanes that find nothing pass the slots
    /// round, and would keep each other from ever resting.
    let hasNews = Atomic(false)
    private let enough = Signal()

    init(_ queue: String, index: Int, epoch: SessionEpoch) {
        self.queue = queue
        self.index = index
        self.epoch = epoch
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

    // MARK: The loop

    /// Works until the session ends, or the worker drains and nothing is held any more.
    ///
    /// An answer is digested while the next call is under way already, so that neither the broker nor the worker waits for
    /// the other one. Only where few jobs were left in line they come first, for the next call would hardly find more, and
    /// would keep a processor from them.
    func work() async throws(BrokerError) {
        var call = 0
        var poll = PollPause(longest: epoch.configuration.longestPoll)
        var undigested: Digest?
        var hasWaited = false
        // Whether a push may answer the next call: who leaves must know that none has.
        var isOpen = false
        var answered = ContinuousClock.now
        while !epoch.isLost {
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
            let (wanted, freeSlots) = epoch.isDraining || !poll.isOver ? (0, 0) : grant()
            guard !reports.isEmpty || wanted > 0 || (epoch.isDraining && isOpen) else {
                if let last = undigested.take() {
                    digest(last)
                    continue
                }
                if epoch.isDraining {
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
            let answer: ExchangeAnswer
            do throws(BrokerError) { answer = try await send(exchange, digesting: last) } catch {
                if mayLeave(exchange, because: error) { return }
                throw error
            }
            // They begin at once, and the broker counts them as begun; the next call, which goes out before, must not deny it.
            if freeSlots > 0, let token = answer.claims.first?.token { noteBegun(token) }
            isOpen = exchange.canBeHanded && answer.claims.isEmpty
            if answer.cameLate { putBack(reports) }
            undigested = Digest(
                reports: answer.cameLate ? [] : reports,
                accepted: answer.accepted,
                claims: answer.claims,
                // What came late was claimed at some time since the answer before.
                since: answer.cameLate ? answered : asked
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
        epoch.budget.grant(to: index, atMost: held.withLock { $0.limit.current() })
    }

    private func exchange(_ call: Int, _ reports: [OutcomeReport], _ wanted: Int, _ freeSlots: Int) -> Exchange {
        Exchange(
            session: epoch.session,
            call: call,
            reports: reports,
            wanted: wanted,
            freeSlots: freeSlots,
            begun: begunToken,
            longestWait: patience,
            stopGrace: epoch.configuration.stopGrace,
            // Its free slots are its own only where no other queue can take them.
            canBeHanded: freeSlots > 0 && wanted > 0 && epoch.configuration.queues.count == 1
        )
    }

    /// Sends a call at once, and digests what is left of the one before until the answer comes.
    private func send(_ exchange: Exchange, digesting last: Digest?) async throws(BrokerError) -> ExchangeAnswer {
        guard let last else { return try await send(exchange) }
        let outcome = await withTaskGroup(of: Result<ExchangeAnswer, BrokerError>.self) { group in
            group.addEagerTask { [self] in
                do throws(BrokerError) { return .success(try await send(exchange)) } catch { return .failure(error) }
            }
            digest(last)
            return await group.next()
        }
        guard let outcome else { throw BrokerError(.closed, "the call was not made") }
        return try outcome.get()
    }

    /// Sends a call, the same one again for as long as its answer is lost: its number makes that safe.
    private func send(_ first: Exchange) async throws(BrokerError) -> ExchangeAnswer {
        var exchange = first
        var losses = 0
        var pause = Duration.milliseconds(20)
        var granted = exchange.wanted
        var isRefused = false
        while true {
            do throws(BrokerError) {
                let answer = try await epoch.broker.exchange(exchange, on: queue)
                epoch.failures.clear("call \(queue)")
                if isRefused { epoch.logger.notice("calls are taken again", metadata: ["job.queue": "\(queue)"]) }
                let got = answer.claims.count
                epoch.raise(epoch.budget.settle(index, wanted: granted, got: got, looked: exchange.wanted > 0))
                return answer
            } catch {
                // Slots that wait for a queue in trouble would be lost to the others.
                epoch.raise(epoch.budget.suspend(index, wanted: granted))
                granted = 0
                if error.code == .notPermitted { epoch.end(because: error) }
                if Self.isFinal(error) || mayLeave(exchange, because: error) { throw error }
                if epoch.isLost || epoch.mustLeave { throw error }
                // What was lost on its way is made good in silence, unless that lasts; what the broker does not want, people must
                // put right.
                let isLost = [.notReachable, .outcomeUnknown].contains(error.code)
                let lasts = epoch.failures.note("call \(queue)")
                epoch.logger.log(
                    level: lasts || !(isLost || isRefused) ? .warning : .debug,
                    isLost
                        ? "call not answered; it is made again until it is"
                        : "call refused; it is made again until it is taken",
                    metadata: ["job.queue": "\(queue)", "error": "\(error)"]
                )
                isRefused = isRefused || !isLost
                losses = error.code == .outcomeUnknown ? losses + 1 : 0
                if ClaimLimit.tells(losses: losses, wanted: exchange.wanted) {
                    losses = 0
                    if let answer = try await askForLess(&exchange, because: error) { return answer }
                }
            }
            await epoch.pause(for: pause)
            pause = min(pause * 2, .seconds(2))
        }
    }

    /// What asking again does not change.
    private static func isFinal(_ error: BrokerError) -> Bool { [.sessionLost, .closed].contains(error.code) }

    /// A worker that is to leave need not hear what it could have claimed: its session ends, and with it these claims. While
    /// another lane holds jobs the session lives on, and would keep them from everybody.
    private func mayLeave(_ exchange: Exchange, because error: BrokerError) -> Bool {
        exchange.reports.isEmpty && epoch.isDraining && epoch.holdsNothing && !Self.isFinal(error)
    }

    /// Puts due jobs in line. Answers whether there were any.
    private func promote() async -> Bool {
        do { return try await epoch.broker.promote(on: queue).promoted > 0 } catch {
            epoch.logger.debug("nothing promoted", metadata: ["job.queue": "\(queue)", "error": "\(error)"])
            return false
        }
    }

    // MARK: Claims

    /// What an answer leaves to be done.
    struct Digest {
        let reports: [OutcomeReport]
        let accepted: [Bool]
        let claims: [Claim]
        /// The earliest time at which they can have been claimed.
        let since: ContinuousClock.Instant
    }

    func digest(_ digest: Digest) {
        for (report, counted) in zip(digest.reports, digest.accepted) where !counted {
            epoch.logger.debug(
                "a late report changed nothing",
                metadata: ["job.id": "\(report.id)", "job.queue": "\(queue)"]
            )
        }
        take(digest.claims, since: digest.since)
    }

    /// Makes runs of claims, some at a time so that the first ones need not wait for the last ones.
    private func take(_ claims: [Claim], since: ContinuousClock.Instant) {
        guard !claims.isEmpty else { return }
        if (epoch.isDraining && !epoch.isLost) || .now > latestBegin(since) {
            for claim in claims { report(OutcomeReport(claim, .released), ofUnread: 1) }
            return
        }
        for start in stride(from: 0, to: claims.count, by: Self.takenTogether) {
            let portion = claims[start..<min(start + Self.takenTogether, claims.count)]
            let operations = portion.compactMap { accept($0, since)?.makeOperation() }
            epoch.background.addOperations(operations, waitUntilFinished: false)
        }
        if epoch.isDraining || epoch.isLost {
            stopAll(epoch.isLost ? .lost : .released, onlyWaiting: !epoch.isLost && !epoch.isUrgent)
        }
    }

    /// Makes a run of a claim, or reports why it cannot be run here.
    private func accept(_ claim: Claim, _ since: ContinuousClock.Instant) -> JobRun? {
        let job: StoredJob
        do throws(EnvelopeError) { job = try JobEnvelope.read(stored: claim.body) } catch {
            report(OutcomeReport(claim, .unreadable, error: "unreadable: \(error)"), ofUnread: 1)
            noteDiscarded(claim.id)
            return nil
        }
        guard let operation = epoch.operations[job.description.operation] else {
            report(OutcomeReport(claim, .parked, fragment: job.fragment), ofUnread: 1)
            noteDiscarded(claim.id, job.description.operation, .unknownOperation)
            return nil
        }
        let run = JobRun(
            claim,
            job,
            operation,
            lane: self,
            claimedAt: since,
            stopGrace: epoch.configuration.stopGrace,
            middleware: epoch.middleware,
            logger: epoch.logger
        )
        held.withLock { held in
            held.runs[claim.id] = run
            held.unread -= 1
            held.account.note(known: held.known)
        }
        epoch.middleware.claimed(run.context)
        return run
    }

    func noteDiscarded(
        _ id: String,
        _ operation: String? = nil,
        _ reason: DiscardedJob.Reason = .unreadable
    ) {
        epoch.middleware.discarded(DiscardedJob(id: id, queue: queue, operation: operation, reason: reason))
    }

    // MARK: What runs tell

    /// A run of this token has begun.
    func noteBegun(_ token: Token) { begun.max(token, ordering: .relaxed) }

    /// A running job tells something of itself. Answers whether it still is this session's.
    func note(_ note: JobNote) async throws(BrokerError) -> Bool {
        try await epoch.broker.note(note, of: epoch.session, on: queue)
    }

    /// What an earlier attempt of a job has left.
    func checkpoint(of id: String) async throws(BrokerError) -> [UInt8]? {
        try await epoch.broker.checkpoint(of: id, on: queue)
    }

    /// A run took this long.
    func noteDuration(_ elapsed: Duration) { epoch.budget.note(elapsed) }

    /// A handler did not stop when it was told to.
    func noteOverrun() { epoch.noteOverrun(in: queue) }

    /// A handler that did not stop in time has returned after all.
    func noteReturn() { epoch.overruns.end() }

    /// A run has ended; `nil` when nobody is to be told.
    func report(_ report: OutcomeReport?, of run: JobRun) {
        // In one step: a claim that is neither run nor reported would be given back by who reconciles just then.
        let count = held.withLock { held in
            if held.runs[run.id] === run { held.runs[run.id] = nil }
            if let report { held.reports.append(report) }
            held.account.note(known: held.known)
            return held.reports.count
        }
        if report != nil { noteReports(count) } else { epoch.raise(epoch.budget.open(1, by: index)) }
        if epoch.isLost { wake() }
    }

    func report(_ report: OutcomeReport, ofUnread unread: Int = 0) {
        let count = held.withLock { held in
            held.unread -= unread
            held.reports.append(report)
            return held.reports.count
        }
        noteReports(count)
    }

    private func noteReports(_ count: Int) {
        if count == 1 { hurry() }
        if count == Self.worthACall { enough.raise() }
    }

    /// The reports to send, after a moment in which more may come while there is other work to do.
    private func takeReports(gathering: Bool) async -> [OutcomeReport] {
        let count = held.withLock(\.reports.count)
        if gathering, count > 0, count < Self.worthACall, epoch.budget.hasWaitingJobs, !epoch.isDraining {
            await enough.wait(for: .milliseconds(1))
        }
        let reports = held.withLock { held in
            let taken = Array(held.reports.prefix(SlotBudget.claimsAtMost))
            held.reports.removeFirst(taken.count)
            return taken
        }
        if !reports.isEmpty {
            epoch.raise(epoch.budget.open(reports.count, by: index))
        }
        return reports
    }
}

extension OutcomeReport {
    init(_ claim: Claim, _ verb: Verb, fragment: [UInt8] = [], error: String? = nil) {
        self.init(
            id: claim.id,
            token: claim.token,
            verb: verb,
            attempt: claim.attempt,
            fragment: fragment,
            error: error
        )
    }
}

extension TaskGroup {
    /// Adds a task that begins on this thread, where that can be had: what it sends need not wait for a free one.
    fileprivate mutating func addEagerTask(_ operation: sending @escaping @isolated(any) () async -> ChildTaskResult) {
        if #available(macOS 26.0, iOS 26.0, tvOS 26.0, watchOS 26.0, visionOS 26.0, *) {
            addImmediateTask(operation: operation)
        } else {
            addTask(operation: operation)
        }
    }
}
