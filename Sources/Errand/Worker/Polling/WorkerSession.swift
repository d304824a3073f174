import Backgroundable
import Logging
import Synchronization

/// A session from its registration until the worker leaves or the broker no longer has the session.
final class WorkerSession: Sendable {
    let session: Session
    let broker: any WorkingBroker
    let configuration: WorkerConfiguration
    let operations: [String: RegisteredOperation]
    let middleware: MiddlewareChain
    let background: BackgroundQueue
    let budget: SlotBudget
    let overruns: Overruns
    let logger: Logger
    /// Failures that are retried.
    let failures = LastingFailures()
    private let shutdown: Shutdown
    private let onStuck: @Sendable (WorkerStuck) -> Void
    private let pool = PoolProbe()
    private let lost = Atomic(false)
    private let over = Atomic(false)
    /// Why the session ends before the worker has drained: the first reason, and the first missing permission, which a
    /// new session would not help.
    private let reasons = Mutex<(first: BrokerError?, refusal: BrokerError?)>((nil, nil))
    private let pollersBox = Mutex<[QueuePoller]>([])
    private let heartbeatBox = Mutex<(any Heartbeat)?>(nil)
    private let upkeep: [String: Signal]
    /// Raised when the shutdown has advanced, or an awaited action is done.
    private let moved = Signal()

    init(
        session: Session,
        broker: any WorkingBroker,
        configuration: WorkerConfiguration,
        operations: [String: RegisteredOperation],
        middleware: MiddlewareChain,
        background: BackgroundQueue,
        shutdown: Shutdown,
        overruns: Overruns,
        logger: Logger,
        onStuck: @escaping @Sendable (WorkerStuck) -> Void
    ) {
        self.session = session
        self.broker = broker
        self.configuration = configuration
        self.operations = operations
        self.middleware = middleware
        self.background = background
        self.shutdown = shutdown
        self.overruns = overruns
        self.onStuck = onStuck
        self.logger = logger
        upkeep = Dictionary(uniqueKeysWithValues: Set(configuration.queues.map(\.name)).map { ($0, Signal()) })
        budget = SlotBudget(concurrency: configuration.concurrency, weights: configuration.queues.map(\.weight))
    }

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

    /// Whether no poller has anything to run or to report.
    var holdsNothing: Bool { pollers.allSatisfy(\.isEmpty) }

    private var pollers: [QueuePoller] { pollersBox.withLock { $0 } }

    /// Works until the session is lost (returns `true`) or the worker has drained (returns `false`).
    func run() async throws(BrokerError) -> Bool {
        let pollers = configuration.queues.enumerated().map { QueuePoller($1.name, index: $0, workerSession: self) }
        pollersBox.withLock { $0 = pollers }
        startHeartbeat()
        let hints = broker.wakeUps(for: session, on: session.queues) { [weak self] in self?.take($0) }
        shutdown.onChange { [weak self] in self?.drain() }
        let isServed = await inTime(.late) { await self.serve(pollers) }
        over.store(true, ordering: .releasing)
        hints.cancel()
        if isLost {
            await stopped(pollers)
            releaseLater()
        } else if await leave() {
            stopHeartbeat()
        } else {
            if !isServed { tellWhatIsLeft(pollers) }
            releaseLater()
        }
        pollersBox.withLock { $0 = [] }
        // The pollers' errors do not count: when a heartbeat detects that the session is lost, their calls may fail for
        // other reasons.
        let (first, refusal) = reasons.withLock { $0 }
        if let refusal { throw refusal }
        guard let first, first.code != .sessionLost, !isDraining else { return isLost }
        throw first
    }

    private func tellWhatIsLeft(_ pollers: [QueuePoller]) {
        let jobs = pollers.reduce(0) { sum, poller in sum + poller.held.withLock(\.known) }
        logger.warning(
            "the broker does not reply within the grace: this worker's jobs will be recovered when its lease ends",
            metadata: ["worker.id": "\(session.id)", "jobs": "\(jobs)"]
        )
    }

    /// Runs an action, but waits for it only until the shutdown reaches a stage: a call that hangs, or a handler that
    /// does not return, must not keep the worker from exiting. Returns whether the action is done.
    private func inTime(_ stage: Shutdown.Stage, _ act: @escaping @Sendable () async -> Void) async -> Bool {
        let ending = Ending()
        Task {
            await act()
            ending.isReached.store(true, ordering: .releasing)
            moved.raise()
        }
        while !ending.isReached.load(ordering: .acquiring) {
            if shutdown.has(reached: stage) { return false }
            await moved.wait(for: .seconds(1))
        }
        return true
    }

    /// Runs the pollers and the maintenance.
    private func serve(_ pollers: [QueuePoller]) async {
        await withTaskGroup(of: Void.self) { group in
            for poller in pollers {
                group.addTask { do throws(BrokerError) { try await poller.work() } catch { self.end(because: error) } }
            }
            // Maintenance is not awaited: a call that hangs must not keep the worker from exiting.
            for poller in pollers { Task { await QueueMaintenance(poller, self).work() } }
            await group.waitForAll()
            over.store(true, ordering: .releasing)
            for signal in upkeep.values { signal.raise() }
        }
    }

    /// Ends the session and thereby releases the jobs that it still has, whose handlers do not return. Returns whether
    /// the broker has done so.
    private func leave() async -> Bool {
        // A job whose command still runs waits for the end of the lease, so that two runs of it do not overlap.
        guard await configuration.endProcesses() else { return false }
        let isReleased = Ending()
        let isAnswered = await inTime(.over) {
            if await self.release() { isReleased.isReached.store(true, ordering: .releasing) }
        }
        return isAnswered && isReleased.isReached.load(ordering: .acquiring)
    }

    /// Releases the session on all queues concurrently. Returns whether it has ended on each.
    private func release() async -> Bool {
        await withTaskGroup(of: Bool.self) { group in
            for queue in session.queues { group.addTask { await self.release(on: queue) } }
            return await group.reduce(true) { $0 && $1 }
        }
    }

    private func release(on queue: String) async -> Bool {
        do throws(BrokerError) {
            try await broker.release(session, on: queue)
            return true
        } catch {
            if error.code == .sessionLost { return true }
            logger.debug(
                "session not released; its lease will end",
                metadata: ["job.queue": "\(queue)", "error": "\(error)"]
            )
            return false
        }
    }

    /// Releases the session after the stop grace. A session may be lost in one queue and live on in another: jobs that
    /// it has there are released after their runs have stopped, instead of waiting for the lease and counting as
    /// crashed.
    private func releaseLater() {
        // With other queues the session lives on until then.
        if session.queues.count == 1 { stopHeartbeat() }
        Task {
            await pause(for: configuration.stopGrace)
            _ = await release()
            stopHeartbeat()
        }
    }

    /// Waits until the stopped runs have ended, or their time for that is over: the worker's next session may claim the
    /// same jobs, and must not run them beside lost runs that have not ended.
    private func stopped(_ pollers: [QueuePoller]) async {
        _ = await inTime(.late) { for poller in pollers { await poller.stopped() } }
    }

    private func stopHeartbeat() { heartbeatBox.withLock { $0?.stop() } }

    // MARK: What may end it

    private func startHeartbeat() {
        let interval = min(max(configuration.lease / 4, .milliseconds(100)), .milliseconds(7500))
        let heartbeat = broker.startHeartbeat(
            of: session,
            on: session.queues,
            every: interval,
            begun: { [weak self] queue in self?.poller(of: queue)?.begunToken ?? 0 },
            onBeat: { [weak self] queue, beat in self?.take(beat, of: queue) }
        )
        heartbeatBox.withLock { current in
            current?.stop()
            current = heartbeat
        }
    }

    /// Checks the task pool with every beat, on the heartbeat's own thread: a session whose handlers block the whole
    /// pool but which still sends beats would keep its jobs from other workers.
    private func checkPool() {
        guard let silence = pool.look(), silence > configuration.stuckAfter, !isOver else {
            return
        }
        stopHeartbeat()
        let seconds = Int(silence / .seconds(1))
        onStuck(
            WorkerStuck(
                description: "handlers have blocked every thread of the task pool for \(seconds) s",
                endsWorker: false
            )
        )
        // The broker recovers the claims of a session without heartbeats. This task runs as soon as a thread is free.
        Task { [weak self] in self?.beatAgain() }
    }

    /// Resumes the heartbeats because the pool is free again. If the lease has ended meanwhile, the first beat reports
    /// that.
    private func beatAgain() {
        guard !isLost, !isOver else { return }
        startHeartbeat()
        if isOver { stopHeartbeat() }
    }

    /// Notes that a handler is still running after its run was reported.
    func noteOverrun(in queue: String) {
        logger.debug("a handler runs on after its end", metadata: ["job.queue": "\(queue)"])
        guard overruns.begin() else { return }
        let count = configuration.mostOverruns
        onStuck(WorkerStuck(description: "\(count) handlers run on although they were told to stop", endsWorker: true))
        shutdown.request()
    }

    private func take(_ beat: Result<Beat, BrokerError>, of queue: String) {
        checkPool()
        switch beat {
        case .success(let beat):
            failures.clear("heartbeat \(queue)")
            if !beat.stops.isEmpty { poller(of: queue)?.stop(beat.stops) }
            poller(of: queue)?.note(beat: beat.claims)
        case .failure(let error):
            if error.code == .sessionLost || error.code == .notPermitted { return end(because: error) }
            logger.log(
                level: failures.note("heartbeat \(queue)") ? .warning : .debug,
                "heartbeat not answered",
                metadata: ["job.queue": "\(queue)", "error": "\(error)"]
            )
        }
    }

    private func take(_ hint: WakeUp) {
        switch hint {
        case .work(let queue): poller(of: queue)?.hurry()
        case .claimed(let queue, let call, let claim): poller(of: queue)?.take(claim, answering: call)
        case .stop: heartbeatBox.withLock { $0 }?.beatNow()
        }
    }

    /// Ends the session: the broker no longer has it, or does not permit what a worker must do.
    func end(because error: BrokerError) {
        if error.code == .notPermitted { return drain(because: error) }
        let isOver = isOver
        let isFirst = reasons.withLock { reasons in
            guard !isOver, reasons.first == nil else { return false }
            reasons.first = error
            return true
        }
        guard isFirst else { return }
        lost.store(true, ordering: .releasing)
        if error.code == .sessionLost { logger.debug("session lost", metadata: ["worker.id": "\(session.id)"]) }
        for poller in pollers { poller.stopAll(.lost) }
    }

    /// Drains the worker after a call was not permitted: running jobs may finish, and are reported if that is permitted
    /// again by then. A changed password should not interrupt work.
    private func drain(because refusal: BrokerError) {
        let isFirst = reasons.withLock { reasons in
            defer { reasons.refusal = reasons.refusal ?? refusal }
            return reasons.refusal == nil
        }
        guard isFirst else { return }
        logger.warning(
            "the broker refuses this worker, which ends when its running jobs have ended",
            metadata: ["worker.id": "\(session.id)", "error": "\(refusal)"]
        )
        shutdown.request()
    }

    /// Advances the shutdown: jobs that have not begun are released immediately, the others may finish until the time
    /// is over. Commands that ignore the request to stop are then killed.
    private func drain() {
        for poller in pollers { poller.stopAll(.released, onlyWaiting: !shutdown.isUrgent) }
        if mustLeave { Task { [configuration] in _ = await configuration.endProcesses() } }
        moved.raise()
    }

    // MARK: What pollers ask

    /// Wakes pollers whose queues got no slots before, because some may be free now.
    func raise(_ indexes: [Int]) {
        guard !indexes.isEmpty else { return }
        let pollers = pollers
        for index in indexes where pollers.indices.contains(index) { pollers[index].wake() }
    }

    /// Waits for a duration.
    func pause(for duration: Duration) async {
        await Signal().wait(for: duration)
    }

    /// Waits for the next maintenance of a queue. Returns whether the session is still alive.
    func awaitUpkeep(of queue: String, for duration: Duration) async -> Bool {
        await upkeep[queue]?.wait(for: duration)
        return !isOver && !isLost
    }

    private func poller(of queue: String) -> QueuePoller? { pollers.first { $0.queue == queue } }
}

/// Whether an action is done.
private final class Ending: Sendable {
    let isReached = Atomic(false)
}
