import Backgroundable
import Logging
import Synchronization

/// One life of a session: from its registration until the worker leaves or the broker does not know it any more.
final class SessionEpoch: Sendable {
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
    private let lanesBox = Mutex<[Lane]>([])
    private let heartbeatBox = Mutex<(any Heartbeat)?>(nil)
    private let upkeep: [String: Signal]

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
    /// Whether the time for a graceful end is over.
    var mustLeave: Bool { shutdown.isOverdue }

    /// Whether no lane has anything to run or to report.
    var holdsNothing: Bool { lanes.allSatisfy(\.isEmpty) }

    private var lanes: [Lane] { lanesBox.withLock { $0 } }

    /// Works until the session is lost (answers `true`) or the worker has drained (answers `false`).
    func run() async throws(BrokerError) -> Bool {
        let lanes = configuration.queues.enumerated().map { Lane($1.name, index: $0, epoch: self) }
        lanesBox.withLock { $0 = lanes }
        startHeartbeat()
        let hints = broker.hints(for: session, on: session.queues) { [weak self] in self?.take($0) }
        shutdown.onChange { [weak self] in self?.drain() }
        let isServed = await inTime { await self.serve(lanes) }
        if !isServed { tellWhatIsLeft(lanes) }
        over.store(true, ordering: .releasing)
        hints.cancel()
        // A broker that does not answer would only cost time; the leases end by themselves.
        if isServed, !isLost {
            _ = await inTime { await self.release() }
            stopHeartbeat()
        } else {
            releaseLater()
        }
        lanesBox.withLock { $0 = [] }
        // Not what the lanes say of it: while a heartbeat learns that the session is lost, their calls may fail otherwise.
        let (first, refusal) = reasons.withLock { $0 }
        if let refusal { throw refusal }
        guard let first, first.code != .sessionLost, !isDraining else { return isLost }
        throw first
    }

    private func tellWhatIsLeft(_ lanes: [Lane]) {
        let jobs = lanes.reduce(0) { sum, lane in sum + lane.held.withLock(\.known) }
        logger.warning(
            "the broker does not answer within the grace: what this worker holds goes back when its lease ends",
            metadata: ["worker.id": "\(session.id)", "jobs": "\(jobs)"]
        )
    }

    /// Does something, but does not wait for it when the worker's time is over: a call that hangs must not keep it from leaving.
    /// Answers whether it was done.
    private func inTime(_ act: @escaping @Sendable () async -> Void) async -> Bool {
        let done = Signal()
        Task {
            await act()
            done.raise()
        }
        // What is told to the broker in the last moment has a second more.
        var isLate = false
        while !(await done.wait(for: .seconds(1))) {
            if isLate { return false }
            isLate = mustLeave
        }
        return true
    }

    /// Runs the lanes and the upkeep.
    private func serve(_ lanes: [Lane]) async {
        await withTaskGroup(of: Void.self) { group in
            for lane in lanes {
                group.addTask { do throws(BrokerError) { try await lane.work() } catch { self.end(because: error) } }
            }
            // Not waited for in the end: a call that hangs must not keep the worker from leaving.
            for lane in lanes { Task { await Caretaker(lane, self).work() } }
            await group.waitForAll()
            over.store(true, ordering: .releasing)
            for signal in upkeep.values { signal.raise() }
        }
    }

    private func release() async {
        for queue in session.queues {
            do { try await broker.release(session, on: queue) } catch  where error.code == .sessionLost {
                continue
            } catch {
                logger.debug(
                    "session not released; its lease will end",
                    metadata: ["job.queue": "\(queue)", "error": "\(error)"]
                )
                return
            }
        }
    }

    /// A session may be lost in one queue and live on in another: what it holds there goes back when its runs have
    /// stopped, instead of waiting for the lease and counting as crashed.
    private func releaseLater() {
        // Until then it lives on there.
        if session.queues.count == 1 { stopHeartbeat() }
        Task {
            await pause(for: configuration.stopGrace)
            await release()
            stopHeartbeat()
        }
    }

    private func stopHeartbeat() { heartbeatBox.withLock { $0?.stop() } }

    // MARK: What may end it

    private func startHeartbeat() {
        let interval = min(max(configuration.lease / 4, .milliseconds(100)), .milliseconds(7500))
        let heartbeat = broker.startHeartbeat(
            of: session,
            on: session.queues,
            every: interval,
            begun: { [weak self] queue in self?.lane(of: queue)?.begunToken ?? 0 },
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
            if !beat.stops.isEmpty { lane(of: queue)?.stop(beat.stops) }
            lane(of: queue)?.note(beat: beat.claims)
        case .failure(let error):
            if error.code == .sessionLost || error.code == .notPermitted { return end(because: error) }
            logger.log(
                level: failures.note("heartbeat \(queue)") ? .warning : .debug,
                "heartbeat not answered",
                metadata: ["job.queue": "\(queue)", "error": "\(error)"]
            )
        }
    }

    private func take(_ hint: Hint) {
        switch hint {
        case .work(let queue): lane(of: queue)?.hurry()
        case .claimed(let queue, let call, let claim): lane(of: queue)?.take(claim, answering: call)
        case .stop: heartbeatBox.withLock { $0 }?.beatNow()
        }
    }

    /// Ends the session: the broker does not know it any more, or does not permit what a worker must do.
    func end(because error: BrokerError) {
        let isOver = over.load(ordering: .acquiring)
        let isFirst = reasons.withLock { reasons in
            if error.code == .notPermitted { reasons.refusal = reasons.refusal ?? error }
            guard !isOver, reasons.first == nil else { return false }
            reasons.first = error
            return true
        }
        guard isFirst else { return }
        lost.store(true, ordering: .releasing)
        if error.code == .sessionLost { logger.debug("session lost", metadata: ["worker.id": "\(session.id)"]) }
        for lane in lanes { lane.stopAll(.lost) }
    }

    /// The worker is to leave: what has not begun goes back at once; the rest has until the time is over.
    private func drain() {
        for lane in lanes { lane.stopAll(.released, onlyWaiting: !shutdown.isUrgent) }
    }

    // MARK: What lanes ask

    /// Slots may be free for queues that got none before.
    func raise(_ indexes: [Int]) {
        guard !indexes.isEmpty else { return }
        let lanes = lanes
        for index in indexes where lanes.indices.contains(index) { lanes[index].wake() }
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

    private func lane(of queue: String) -> Lane? { lanes.first { $0.queue == queue } }
}
