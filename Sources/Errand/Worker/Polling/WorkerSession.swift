import Backgroundable
import Logging
import Synchronization

/// One life of a session: from its registration until the worker leaves or the broker does not know it any more.
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
    /// What fails and is retried.
    let failures = LastingFailures()
    private let shutdown: Shutdown
    private let onStuck: @Sendable (WorkerStuck) -> Void
    private let pool = PoolProbe()
    private let lost = Atomic(false)
    private let over = Atomic(false)
    /// Why it ends before the worker has drained: the first reason, and one that no new session mends.
    private let reasons = Mutex<(first: BrokerError?, refusal: BrokerError?)>((nil, nil))
    private let pollersBox = Mutex<[QueuePoller]>([])
    private let heartbeatBox = Mutex<(any Heartbeat)?>(nil)
    private let upkeep: [String: Signal]
    /// Raised when the shutdown has moved on, or what is waited for was done.
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

    /// Whether the broker does not know the session any more.
    var isLost: Bool { lost.load(ordering: .acquiring) }
    /// Whether nothing more is to be claimed.
    var isDraining: Bool { shutdown.isRequested }
    /// Whether running jobs are to be stopped.
    var isUrgent: Bool { shutdown.isUrgent }
    /// Whether the time for a graceful end is over.
    var mustLeave: Bool { shutdown.isOverdue }

    /// Whether no poller has anything to run or to report.
    var holdsNothing: Bool { pollers.allSatisfy(\.isEmpty) }

    private var pollers: [QueuePoller] { pollersBox.withLock { $0 } }

    /// Works until the session is lost (answers `true`) or the worker has drained (answers `false`).
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
        // Not what the pollers say of it: while a heartbeat learns that the session is lost, their calls may fail otherwise.
        let (first, refusal) = reasons.withLock { $0 }
        if let refusal { throw refusal }
        guard let first, first.code != .sessionLost, !isDraining else { return isLost }
        throw first
    }

    private func tellWhatIsLeft(_ pollers: [QueuePoller]) {
        let jobs = pollers.reduce(0) { sum, poller in sum + poller.held.withLock(\.known) }
        logger.warning(
            "the broker does not answer within the grace: what this worker holds goes back when its lease ends",
            metadata: ["worker.id": "\(session.id)", "jobs": "\(jobs)"]
        )
    }

    /// Does something, but waits for it only until the shutdown has come so far: a call that hangs, or a handler that does
    /// not return, must not keep the worker from leaving. Answers whether it was done.
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

    /// Runs the pollers and the upkeep.
    private func serve(_ pollers: [QueuePoller]) async {
        await withTaskGroup(of: Void.self) { group in
            for poller in pollers {
                group.addTask { do throws(BrokerError) { try await poller.work() } catch { self.end(because: error) } }
            }
            // Not waited for in the end: a call that hangs must not keep the worker from leaving.
            for poller in pollers { Task { await QueueMaintenance(poller, self).work() } }
            await group.waitForAll()
            over.store(true, ordering: .releasing)
            for signal in upkeep.values { signal.raise() }
        }
    }

    /// Ends the session, and with it releases what it still holds: jobs whose handlers do not return. Answers whether the
    /// broker has done so.
    private func leave() async -> Bool {
        // A job whose command still runs somewhere is for the lease: two runs of it would overlap.
        guard await configuration.endProcesses() else { return false }
        let isReleased = Ending()
        let isAnswered = await inTime(.over) {
            if await self.release() { isReleased.isReached.store(true, ordering: .releasing) }
        }
        return isAnswered && isReleased.isReached.load(ordering: .acquiring)
    }

    /// Releases the session on all queues at once. Answers whether it is gone on each.
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

    /// A session may be lost in one queue and live on in another: what it holds there goes back when its runs have
    /// stopped, instead of waiting for the lease and counting as crashed.
    private func releaseLater() {
        // Until then it lives on there.
        if session.queues.count == 1 { stopHeartbeat() }
        Task {
            await pause(for: configuration.stopGrace)
            _ = await release()
            stopHeartbeat()
        }
    }

    /// Waits until what was told to stop has stopped, or has had its time for that: the worker's next session may claim the same jobs,
    /// and must not run them beside what is left of their lost runs.
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

    /// Called with every beat, on the heartbeat's own thread: a session that goes on beating while handlers block the whole
    /// pool would keep its jobs from other workers.
    private func checkPool() {
        guard let silence = pool.look(), silence > configuration.stuckAfter, !over.load(ordering: .acquiring) else {
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
        // What is claimed under a session that nobody keeps alive is taken away again. This runs as soon as a thread is free.
        Task { [weak self] in self?.beatAgain() }
    }

    /// The pool is back: if that was before the lease was over, nothing has happened; else the first beat says so.
    private func beatAgain() {
        guard !isLost, !over.load(ordering: .acquiring) else { return }
        startHeartbeat()
        if over.load(ordering: .acquiring) { stopHeartbeat() }
    }

    /// A handler runs on after its end.
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

    /// Ends the session: the broker does not know it any more, or does not permit what a worker must do.
    func end(because error: BrokerError) {
        if error.code == .notPermitted { return drain(because: error) }
        let isOver = over.load(ordering: .acquiring)
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

    /// The broker does not permit what a worker must do: the worker leaves, but its jobs may end, and are reported if their
    /// reports are permitted again by then. A password that was changed is no reason to cut work off.
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

    /// The worker is to leave: what has not begun goes back at once; the rest has until the time is over. Commands that take
    /// no notice of being asked to stop are killed then.
    private func drain() {
        for poller in pollers { poller.stopAll(.released, onlyWaiting: !shutdown.isUrgent) }
        if mustLeave { Task { [configuration] in _ = await configuration.endProcesses() } }
        moved.raise()
    }

    // MARK: What pollers ask

    /// Slots may be free for queues that got none before.
    func raise(_ indexes: [Int]) {
        guard !indexes.isEmpty else { return }
        let pollers = pollers
        for index in indexes where pollers.indices.contains(index) { pollers[index].wake() }
    }

    /// Waits, unless the worker is to leave.
    func pause(for duration: Duration) async {
        await Signal().wait(for: duration)
    }

    /// Waits for the next round of upkeep.
    func awaitUpkeep(of queue: String, for duration: Duration) async -> Bool {
        await upkeep[queue]?.wait(for: duration)
        return !over.load(ordering: .acquiring) && !isLost
    }

    private func poller(of queue: String) -> QueuePoller? { pollers.first { $0.queue == queue } }
}

/// Whether something has been done.
private final class Ending: Sendable {
    let isReached = Atomic(false)
}
