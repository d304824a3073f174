import Backgroundable
import Dispatch
import ErrandText
import Logging
import Synchronization

/// One claimed job in the worker, from its claim to its report.
///
/// 1. It waits in the worker's local queue as a `SlotOperation`.
/// 2. It begins: its handler runs on the queue's thread, or in a task.
/// 3. It ends by itself, or is asked to stop: by its timeout, a cancellation, the worker's shutdown, or the loss of the
/// session.
/// 4. It is reported exactly once, after the handler has stopped. A handler that does not stop within the stop grace is
/// reported without waiting for it, and nothing that it does later counts.
final class JobRun: SlotWork {
    /// Why a run has to stop.
    enum StopCause: Sendable { case timedOut, cancelled, released, lost }

    private enum Phase: Sendable {
        case waiting
        case running(since: ContinuousClock.Instant)
        case stopping(StopCause, since: ContinuousClock.Instant)
        case reported
    }

    private struct State {
        var phase = Phase.waiting
        var task: Task<Void, Never>?
        /// The operation whose slot is freed if the handler does not stop in time.
        var slot: SlotOperation?
        var stopDeadline: Deadline?
        /// Whether the run was reported while its handler was still running.
        var overran = false
        /// Handlers to call when the run has to stop.
        var onStop: [@Sendable () -> Void] = []
    }

    let id: String
    let token: Token
    let claimedAt: ContinuousClock.Instant
    let attempt: Int
    let job: StoredJob
    let operation: RegisteredOperation
    let session: SessionContext
    /// The owner, which keeps the run until it is reported.
    private let owner: any JobRunDelegate
    private let timeout: Duration
    private let stopFlag = Atomic(false)
    /// How many times the handler has added jobs to its workflow.
    private let additions = Atomic(0)
    private let state = Mutex(State())

    init(
        _ claim: Claim,
        _ job: StoredJob,
        _ operation: RegisteredOperation,
        of owner: any JobRunDelegate,
        in session: SessionContext,
        claimedAt: ContinuousClock.Instant
    ) {
        id = claim.id
        token = claim.token
        attempt = claim.attempt
        self.job = job
        self.operation = operation
        timeout = job.timeout ?? operation.defaults.timeout
        self.owner = owner
        self.session = session
        self.claimedAt = claimedAt
    }

    /// The queue that the job came from.
    var queue: String { owner.queue }

    /// The run as handlers and middleware see it.
    var context: JobContext { JobContext(run: self) }

    /// Whether the run was asked to stop.
    var isToldToStop: Bool { stopFlag.load(ordering: .acquiring) }

    /// Counts an addition to the job's workflow; returns its number from 0.
    func nextAddition() -> Int { additions.add(1, ordering: .relaxed).oldValue }

    /// When the run times out.
    var deadline: ContinuousClock.Instant {
        let began = state.withLock { state -> ContinuousClock.Instant? in
            switch state.phase {
            case .running(let since), .stopping(_, let since): since
            case .waiting, .reported: nil
            }
        }
        return (began ?? .now) + timeout
    }

    /// Returns the operation for the local queue. It retains the run. The broker has applied the uniqueness policy already.
    func makeOperation() -> SlotOperation {
        SlotOperation(timeout: timeout / .seconds(1), work: self, in: session.localQueue)
    }

    /// Returns whether the run has been waiting for a slot since before `instant`.
    func isWaiting(since instant: ContinuousClock.Instant) -> Bool {
        guard claimedAt < instant else { return false }
        return state.withLock { if case .waiting = $0.phase { true } else { false } }
    }

    // MARK: Running

    /// Whether ``begin(_:)`` runs the handler itself.
    var mayBlock: Bool {
        if case .blocking = operation.handler { session.middleware.isEmpty } else { false }
    }

    func begin(_ slot: SlotOperation) {
        let now = ContinuousClock.now
        if now > session.limits.latestBegin(claimedAt) { stop(.released) }
        let begins = state.withLock { state in
            guard case .waiting = state.phase else { return false }
            state.phase = .running(since: now)
            state.slot = slot
            return true
        }
        guard begins else { return slot.finish() }
        owner.noteBegun(token)
        guard case .blocking(let body) = operation.handler, session.middleware.isEmpty else { return beginTask(slot) }
        let outcome: HandlerOutcome
        do { outcome = try body(context) } catch { outcome = self.outcome(ofThrown: error) }
        conclude(outcome)
        slot.finish()
    }

    private func beginTask(_ slot: SlotOperation) {
        // Detached: the thread may be that of the poller, or of the job before, whose priority and local values are its own.
        let task = Task.detached { [self] in
            let outcome: HandlerOutcome
            do { outcome = try await handle() } catch { outcome = self.outcome(ofThrown: error) }
            conclude(outcome)
            slot.finish()
        }
        keep(task)
    }

    private func handle() async throws -> HandlerOutcome {
        let handler = operation.handler
        return try await session.middleware.handle(context) { context in
            switch handler {
            case .async(let body): try await body(context)
            case .blocking(let body): try await BlockingExecutor.run { try body(context) }
            }
        }
    }

    /// Returns the outcome of a run whose handler has thrown.
    private func outcome(ofThrown error: any Error) -> HandlerOutcome {
        let outcome = HandlerOutcome(thrown: error)
        guard case .failed(let message, false, _) = outcome,
            !operation.retryStrategy.shouldRetry(attempt: attempt, error: error)
        else { return outcome }
        return .failed(message, isFinal: true)
    }

    /// Calls `handler` when the run has to stop; immediately if it already has to, even after its report.
    func onStop(_ handler: @escaping @Sendable () -> Void) {
        let isKept = state.withLock { state in
            guard case .running = state.phase else { return false }
            state.onStop.append(handler)
            return true
        }
        if !isKept, isToldToStop { handler() }
    }

    /// Keeps the handler's task for cancellation, and cancels it if the run was asked to stop meanwhile.
    private func keep(_ task: Task<Void, Never>) {
        let isStopping = state.withLock { state in
            state.task = task
            if case .stopping = state.phase { return true }
            return false
        }
        if isStopping { task.cancel() }
    }

    // MARK: Ending

    /// Ends the run after its handler has returned.
    private func conclude(_ outcome: HandlerOutcome) {
        let (phase, deadline, overran) = state.withLock { state in
            defer {
                state.phase = .reported
                state.task = nil
                state.slot = nil
                state.stopDeadline = nil
                state.onStop = []
            }
            return (state.phase, state.stopDeadline, state.overran)
        }
        deadline?.cancel()
        if overran { session.overruns.end() }
        switch phase {
        case .running(let since): end(report(outcome, since), since)
        case .stopping(let cause, let since): end(report(outcome, stoppedBy: cause, since), since)
        case .waiting, .reported: break
        }
    }

    func timedOut() { stop(.timedOut) }

    /// Asks the run to stop; a run that has not begun ends immediately.
    func stop(_ cause: StopCause) {
        let (waited, task, handlers) = state.withLock { state -> (Bool, Task<Void, Never>?, [@Sendable () -> Void]) in
            switch state.phase {
            case .waiting:
                state.phase = .reported
                return (true, nil, [])
            case .running(let since), .stopping(_, let since):
                if case .stopping = state.phase, cause != .lost { return (false, nil, []) }
                state.phase = .stopping(cause, since: since)
                stopFlag.store(true, ordering: .releasing)
                defer { state.onStop = [] }
                return (false, state.task, state.onStop)
            case .reported: return (false, nil, [])
            }
        }
        if waited { return end(cause == .lost ? nil : unbegun, wasCancelled: cause == .cancelled) }
        armStopDeadline()
        let tell = { @Sendable in
            task?.cancel()
            for handler in handlers { handler() }
        }
        // The caller may be the timer's or the heartbeat's thread, which neither task nor handlers may delay. A queue
        // of its own gets a thread even if handlers block those of the global queues.
        if task != nil || !handlers.isEmpty { DispatchQueue(label: "errand-stop").async(execute: tell) }
    }

    private func armStopDeadline() {
        let stopGrace = session.limits.stopGrace
        let deadline = DeadlineTimer.shared.schedule(after: stopGrace) { [weak self] in self?.giveUp() }
        let kept = state.withLock { state in
            guard case .stopping = state.phase, state.stopDeadline == nil else { return false }
            state.stopDeadline = deadline
            return true
        }
        if !kept { deadline.cancel() }
    }

    /// Reports a run whose handler did not stop within the grace. Nothing that the handler does later counts.
    private func giveUp() {
        let (phase, slot) = state.withLock { state in
            defer {
                if case .stopping = state.phase {
                    state.phase = .reported
                    state.overran = true
                }
                state.slot = nil
            }
            return (state.phase, state.slot)
        }
        slot?.cancel()
        guard case .stopping(let cause, let since) = phase else { return }
        session.noteOverrun(in: queue)
        let report = report(.failed("did not stop when told to"), stoppedBy: cause, since)
        guard cause == .released else { return end(report, since) }
        // The job is released last, with the session, because by the time another worker runs it this process may have
        // exited.
        tell(RunEnding(report), report)
        owner.ended(self, nil)
    }

    /// Ends the run for the middleware and the owner; `nil` if nothing is reported to the broker.
    private func end(
        _ report: OutcomeReport?,
        _ began: ContinuousClock.Instant? = nil,
        wasCancelled: Bool = false
    ) {
        let ending = RunEnding(report, wasCancelled: wasCancelled)
        if let began, let report {
            owner.count(ending, of: operation.name, waited: waited(until: began), ran: report.milliseconds)
        }
        tell(ending, report)
        owner.ended(self, report)
    }

    /// Returns how long the job was ready before it began, in milliseconds: before its claim by the broker's clock, which
    /// the token implies, and since then by ours.
    private func waited(until began: ContinuousClock.Instant) -> Int {
        let beforeClaim = Int64(clamping: token / 1000).subtractingReportingOverflow(job.readySince).partialValue
        let sinceClaim = began - claimedAt
        // Whole milliseconds take a division of 128 bits, which most runs can do without.
        let held = sinceClaim < .milliseconds(1) ? 0 : sinceClaim.wholeMilliseconds
        return Int(clamping: max(0, beforeClaim)).addedClamped(held)
    }

    private func tell(_ ending: RunEnding, _ report: OutcomeReport?) {
        session.jobLog.ended(self, ending, retryDelay: report?.retryDelay)
        session.middleware.finished(context, ending)
    }
}

// MARK: - Reports

extension JobRun {
    /// Makes the report of a run that ended by itself.
    private func report(_ outcome: HandlerOutcome, _ since: ContinuousClock.Instant) -> OutcomeReport {
        var report = report(.finished, since)
        switch outcome {
        case .finished(let result):
            report.result = result.count > JobResult.mostBytes ? Array(result.prefix(JobResult.mostBytes)) : result
        case .failed(let message, let isFinal, let retryAfter):
            report.verb = .failed
            report.error = message.clipped(toUTF8: OutcomeReport.mostErrorBytes)
            if !isFinal { report.retryDelay = retryDelay(retryAfter) }
        case .snoozed(let pause):
            report.verb = .snoozed
            report.retryDelay = max(0, pause.wholeMilliseconds)
        case .groupRests(let pause, let reason):
            report.verb = .groupRests
            // The run spends no attempt, so without a pause the job would run again and again.
            report.retryDelay = max(1000, pause.wholeMilliseconds)
            report.error = reason.clipped(toUTF8: OutcomeReport.mostErrorBytes)
        case .cancelled(let reason):
            report.verb = .cancelled
            report.error = reason.clipped(toUTF8: OutcomeReport.mostErrorBytes)
        }
        return report
    }

    /// Makes the report of a run that stopped after it was asked to.
    private func report(
        _ outcome: HandlerOutcome,
        stoppedBy cause: StopCause,
        _ since: ContinuousClock.Instant
    ) -> OutcomeReport? {
        switch cause {
        case .lost: return nil
        case .timedOut:
            var report = report(.timedOut, since)
            let error = JobTimedOut(timeout: timeout)
            report.error = error.description
            if operation.retryStrategy.shouldRetry(attempt: attempt, error: error) {
                report.retryDelay = retryDelay(nil)
            }
            return report
        case .cancelled, .released:
            // A handler that finished in spite of the request counts as finished.
            if case .finished = outcome { return report(outcome, since) }
            return report(cause == .cancelled ? .cancelled : .released, since)
        }
    }

    /// The report of a run that has not begun: the job is released. If it was cancelled, the broker then ends it, and
    /// its successor takes its position in the ready list.
    private var unbegun: OutcomeReport {
        OutcomeReport(id: id, token: token, verb: .released, attempt: attempt, fragment: job.fragment)
    }

    private func report(_ verb: OutcomeReport.Verb, _ since: ContinuousClock.Instant) -> OutcomeReport {
        let elapsed = ContinuousClock.now - since
        session.budget.note(elapsed)
        return OutcomeReport(
            id: id,
            token: token,
            verb: verb,
            attempt: attempt,
            milliseconds: max(0, elapsed.wholeMilliseconds),
            fragment: job.fragment
        )
    }

    private func retryDelay(_ asked: Duration?) -> Int? {
        guard attempt <= job.retries ?? operation.defaults.retries else { return nil }
        let strategy: any JobRetryStrategy = job.description.backoff ?? operation.retryStrategy
        return max(0, (asked ?? strategy.calculateBackoff(attempt: attempt)).wholeMilliseconds)
    }
}
