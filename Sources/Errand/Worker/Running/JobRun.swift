import Backgroundable
import Dispatch
import Logging
import Synchronization

/// One claimed job in the worker, from its claim to its report.
///
/// 1. It waits in the background queue as an `AsyncOperation`.
/// 2. It begins: its handler runs on the queue's thread, or in a task.
/// 3. It ends by itself, or is told to stop: by its timeout, a cancellation, the worker's shutdown, or the loss of the
///    session.
/// 4. It is reported exactly once, when the handler has really stopped; a handler that does not stop within the stop
///    grace is reported without waiting for it, and what it still does no longer counts.
final class JobRun: Sendable {
    /// Why a run is to stop.
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
        /// The operation whose slot is opened when the handler does not stop in time.
        var slot: AsyncOperation?
        var stopDeadline: Deadline?
        /// Whether it was reported while its handler ran on.
        var overran = false
        /// What the handler wants done when it is told to stop.
        var onStop: [@Sendable () -> Void] = []
    }

    let id: String
    let token: Token
    let claimedAt: ContinuousClock.Instant
    let attempt: Int
    let job: StoredJob
    let operation: RegisteredOperation
    let logger: Logger
    /// The poller holds the run until it is reported.
    let poller: QueuePoller
    private let timeout: Duration
    private let stopGrace: Duration
    private let middleware: MiddlewareChain
    private let stopFlag = Atomic(false)
    private let state = Mutex(State())

    init(
        _ claim: Claim,
        _ job: StoredJob,
        _ operation: RegisteredOperation,
        poller: QueuePoller,
        claimedAt: ContinuousClock.Instant,
        stopGrace: Duration,
        middleware: MiddlewareChain,
        logger: Logger
    ) {
        id = claim.id
        token = claim.token
        attempt = claim.attempt
        self.job = job
        self.operation = operation
        timeout = job.timeout ?? operation.defaults.timeout
        self.poller = poller
        self.claimedAt = claimedAt
        self.stopGrace = stopGrace
        self.middleware = middleware
        self.logger = logger
    }

    /// What handlers and middleware see of the run.
    var context: JobContext { JobContext(run: self) }

    /// Whether it was told to stop.
    var isToldToStop: Bool { stopFlag.load(ordering: .acquiring) }

    /// When it times out.
    var deadline: ContinuousClock.Instant {
        let began = state.withLock { state -> ContinuousClock.Instant? in
            switch state.phase {
            case .running(let since), .stopping(_, let since): since
            case .waiting, .reported: nil
            }
        }
        return (began ?? .now) + timeout
    }

    /// The operation for the background queue. It keeps the run alive.
    func makeOperation() -> AsyncOperation {
        AsyncOperation(
            name: job.description.name,
            timeout: timeout / .seconds(1),
            onEnd: { [self] _, ending in if ending == .timedOut { stop(.timedOut) } },
            { [self] operation in begin(operation) }
        )
    }

    /// Whether it has waited for a slot since before `instant`.
    func isWaiting(since instant: ContinuousClock.Instant) -> Bool {
        guard claimedAt < instant else { return false }
        return state.withLock { if case .waiting = $0.phase { true } else { false } }
    }

    // MARK: Running

    private func begin(_ slot: AsyncOperation) {
        let now = ContinuousClock.now
        if now > poller.latestBegin(claimedAt) { stop(.released) }
        let begins = state.withLock { state in
            guard case .waiting = state.phase else { return false }
            state.phase = .running(since: now)
            state.slot = slot
            return true
        }
        guard begins else { return slot.finish() }
        poller.noteBegun(token)
        guard case .blocking(let body) = operation.handler, middleware.isEmpty else { return beginTask(slot) }
        let outcome: HandlerOutcome
        do { outcome = try body(context) } catch { outcome = self.outcome(ofThrown: error) }
        conclude(outcome)
        slot.finish()
    }

    private func beginTask(_ slot: AsyncOperation) {
        let task = Task { [self] in
            let outcome: HandlerOutcome
            do { outcome = try await handle() } catch { outcome = self.outcome(ofThrown: error) }
            conclude(outcome)
            slot.finish()
        }
        keep(task)
    }

    private func handle() async throws -> HandlerOutcome {
        let handler = operation.handler
        return try await middleware.handle(context) { context in
            switch handler {
            case .async(let body): try await body(context)
            case .blocking(let body): try await BlockingExecutor.run { try body(context) }
            }
        }
    }

    /// What an error of the handler says of its run.
    private func outcome(ofThrown error: any Error) -> HandlerOutcome {
        let outcome = HandlerOutcome(thrown: error)
        guard case .failed(let message, false, _) = outcome,
            !operation.retryStrategy.shouldRetry(attempt: attempt, error: error)
        else { return outcome }
        return .failed(message, isFinal: true)
    }

    /// Has something done when the run is told to stop; at once when it was, also when it was given up since.
    func onStop(_ handler: @escaping @Sendable () -> Void) {
        let isKept = state.withLock { state in
            guard case .running = state.phase else { return false }
            state.onStop.append(handler)
            return true
        }
        if !isKept, isToldToStop { handler() }
    }

    /// Keeps the handler's task so that it can be cancelled, which it is at once if the run was told to stop meanwhile.
    private func keep(_ task: Task<Void, Never>) {
        let isStopping = state.withLock { state in
            state.task = task
            if case .stopping = state.phase { return true }
            return false
        }
        if isStopping { task.cancel() }
    }

    // MARK: Ending

    /// The handler has returned.
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
        if overran { poller.noteReturn() }
        switch phase {
        case .running(let since): end(report(outcome, since))
        case .stopping(let cause, let since): end(report(outcome, stoppedBy: cause, since))
        case .waiting, .reported: break
        }
    }

    /// Tells the run to stop; a run that has not begun ends at once.
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
        // This may be the timer's thread or that of the heartbeats, and what handlers do is not ours: it must hold up neither. A queue of
        // its own gets a thread also where handlers block those of the global ones.
        if task != nil || !handlers.isEmpty { DispatchQueue(label: "errand-stop").async(execute: tell) }
    }

    private func armStopDeadline() {
        let deadline = DeadlineTimer.shared.schedule(after: stopGrace) { [weak self] in self?.giveUp() }
        let kept = state.withLock { state in
            guard case .stopping = state.phase, state.stopDeadline == nil else { return false }
            state.stopDeadline = deadline
            return true
        }
        if !kept { deadline.cancel() }
    }

    /// The handler did not stop within the grace: it is reported, and what it still does no longer counts.
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
        poller.noteOverrun()
        let report = report(.failed("did not stop when told to"), stoppedBy: cause, since)
        guard cause == .released else { return end(report) }
        // It goes back with the session, last of all: the process may be gone by the time that another worker runs it.
        middleware.finished(context, RunEnding(report, wasCancelled: false))
        poller.report(nil, of: self)
    }

    /// Tells everybody that it has ended; `nil` when the broker is not to be told.
    private func end(_ report: OutcomeReport?, wasCancelled: Bool = false) {
        middleware.finished(context, RunEnding(report, wasCancelled: wasCancelled))
        poller.report(report, of: self)
    }
}

// MARK: - Reports

extension JobRun {
    /// The report of a run that ended by itself.
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
        case .cancelled(let reason):
            report.verb = .cancelled
            report.error = reason.clipped(toUTF8: OutcomeReport.mostErrorBytes)
        }
        return report
    }

    /// The report of a run that was told to stop and has stopped.
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
            // Work that was done in spite of the request is done.
            if case .finished = outcome { return report(outcome, since) }
            return report(cause == .cancelled ? .cancelled : .released, since)
        }
    }

    /// It goes back as it came; where it was cancelled it ends there, and who replaces it takes over its place in line.
    private var unbegun: OutcomeReport {
        OutcomeReport(id: id, token: token, verb: .released, attempt: attempt, fragment: job.fragment)
    }

    private func report(_ verb: OutcomeReport.Verb, _ since: ContinuousClock.Instant) -> OutcomeReport {
        let elapsed = ContinuousClock.now - since
        poller.noteDuration(elapsed)
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

extension HandlerOutcome {
    fileprivate init(thrown error: any Error) {
        switch error {
        case let failure as JobFailure:
            self = .failed(failure.message, isFinal: failure.isFinal, retryAfter: failure.retryAfter)
        case let snooze as JobSnooze: self = .snoozed(snooze.pause)
        case let cancellation as JobCancellation: self = .cancelled(cancellation.reason)
        default: self = .failed(String(describing: error))
        }
    }
}

extension RunEnding {
    /// What a report says; `nil` stands for a run of which nothing is reported. Who was told to stop before it began goes back, and ends there.
    fileprivate init(_ report: OutcomeReport?, wasCancelled: Bool) {
        guard let report else {
            self.init(status: .lost, timedOut: false, duration: .zero, error: nil)
            return
        }
        let status: Status =
            switch report.verb {
            case .finished: .succeeded
            case .failed, .timedOut: report.retryDelay == nil ? .failed : .retried
            case .cancelled: .cancelled
            case .snoozed: .snoozed
            case .released, .parked: wasCancelled ? .cancelled : .released
            case .unreadable: .failed
            }
        self.init(
            status: status,
            timedOut: report.verb == .timedOut,
            duration: .milliseconds(report.milliseconds),
            error: report.error
        )
    }
}

extension String {
    /// At most so many bytes of UTF-8, cut between characters.
    func clipped(toUTF8 limit: Int) -> String {
        guard utf8.count > limit else { return self }
        return String(decoding: utf8.prefix(limit), as: UTF8.self).replacing("\u{FFFD}", with: "")
    }
}
