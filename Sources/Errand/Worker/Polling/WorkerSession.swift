import Backgroundable
import Logging
import Synchronization

/// A session from its registration until the worker leaves or the broker no longer has the session.
final class WorkerSession: Sendable {
    private let context: SessionContext
    private let registration: SessionRegistration
    private let tell: @Sendable (WorkerEvent) -> Void
    private let pool = PoolProbe()
    private let pollersBox = Mutex<[QueuePoller]>([])
    private let heartbeatBox = Mutex<(any Heartbeat)?>(nil)
    /// Raised when the shutdown has advanced, or an awaited action is done.
    private let moved = Signal()

    init(
        _ context: SessionContext,
        _ registration: SessionRegistration,
        tell: @escaping @Sendable (WorkerEvent) -> Void
    ) {
        self.context = context
        self.registration = registration
        self.tell = tell
    }

    private var session: Session { context.session }
    private var broker: any WorkingBroker { context.broker }
    private var configuration: WorkerConfiguration { context.configuration }
    private var phase: SessionPhase { context.phase }
    private var logger: Logger { context.logger }
    private var pollers: [QueuePoller] { pollersBox.withLock { $0 } }

    /// Works until the session is lost (returns `true`) or the worker has drained (returns `false`).
    func run() async throws(BrokerError) -> Bool {
        let pollers = makePollers()
        pollersBox.withLock { $0 = pollers }
        // Before the heartbeats: a queue that is registered in between starts them once more.
        let late = registration.missing
        startHeartbeat()
        let wakeUps = broker.wakeUps(for: session, on: session.queues) { [weak self] in self?.take($0) }
        phase.shutdown.onChange { [weak self] in self?.drain() }
        let isServed = await inTime(.late) { await self.serve(pollers, late: late) }
        phase.end()
        wakeUps.cancel()
        if isServed { _ = await inTime(.late) { for poller in pollers { await poller.recordRuns() } } }
        if phase.isLost {
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
        if let refusal = phase.refusal { throw refusal }
        guard let loss = phase.loss, loss.code != .sessionLost, !phase.isDraining else { return phase.isLost }
        throw loss
    }

    private func makePollers() -> [QueuePoller] {
        configuration.queues.enumerated().map { index, queue in
            // Pollers whose queues got no slots before are woken when some may be free.
            let slots = SlotShare(of: context.budget, at: index) { [weak self] in self?.wake($0) }
            return QueuePoller(queue.name, context, slots: slots)
        }
    }

    private func wake(_ indexes: [Int]) {
        let pollers = pollers
        for index in indexes where pollers.indices.contains(index) { pollers[index].wake() }
    }

    private func tellWhatIsLeft(_ pollers: [QueuePoller]) {
        let jobs = pollers.reduce(0) { sum, poller in sum + poller.state.withLock { $0.known } }
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
            if phase.shutdown.has(reached: stage) { return false }
            await moved.wait(for: .seconds(1))
        }
        return true
    }

    /// Runs the pollers and the maintenance.
    private func serve(_ pollers: [QueuePoller], late: [String]) async {
        await withTaskGroup(of: Void.self) { group in
            for poller in pollers {
                let isLate = late.contains(poller.queue)
                group.addTask {
                    do throws(BrokerError) { try await self.serve(poller, isLate: isLate) } catch {
                        self.end(because: error)
                    }
                }
            }
            await group.waitForAll()
            phase.end()
            for poller in pollers { poller.maintenance.raise() }
        }
    }

    /// Serves a queue as soon as the session is registered on it.
    private func serve(_ poller: QueuePoller, isLate: Bool) async throws(BrokerError) {
        guard try await registration.awaitRegistration(on: poller.queue) else { return }
        if isLate {
            startHeartbeat()
            tell(.queueRegistered(poller.queue))
        }
        // Maintenance is not awaited: a call that hangs must not keep the worker from exiting.
        Task { await QueueMaintenance(of: poller).work() }
        try await poller.work()
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
            for queue in registration.registered { group.addTask { await self.release(on: queue) } }
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
            await Signal().wait(for: configuration.stopGrace)
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
        // Queues that are registered at the same time must not take each other's heartbeat away.
        heartbeatBox.withLock { current in
            current?.stop()
            current = broker.startHeartbeat(
                of: session,
                on: registration.registered,
                every: interval,
                begun: { [weak self] queue in self?.poller(of: queue)?.begunToken ?? 0 },
                onBeat: { [weak self] queue, beat in self?.take(beat, of: queue) }
            )
        }
    }

    /// Checks the task pool with every beat, on the heartbeat's own thread: a session whose handlers block the whole
    /// pool but which still sends beats would keep its jobs from other workers.
    private func checkPool() {
        guard let silence = pool.look(), silence > configuration.stuckAfter, !phase.isOver else {
            return
        }
        stopHeartbeat()
        let seconds = Int(silence / .seconds(1))
        context.onStuck(
            WorkerStuck(
                description:
                    "handlers have blocked every thread of the task pool for \(seconds) s; register handlers that block as .blocking",
                endsWorker: false
            )
        )
        // The broker recovers the claims of a session without heartbeats. This task runs as soon as a thread is free.
        Task { [weak self] in self?.beatAgain() }
    }

    /// Resumes the heartbeats because the pool is free again. If the lease has ended meanwhile, the first beat reports
    /// that.
    private func beatAgain() {
        guard !phase.isLost, !phase.isOver else { return }
        startHeartbeat()
        if phase.isOver { stopHeartbeat() }
    }

    private func take(_ beat: Result<Beat, BrokerError>, of queue: String) {
        checkPool()
        switch beat {
        case .success(let beat):
            context.failures.clear("heartbeat \(queue)")
            if !beat.stops.isEmpty { poller(of: queue)?.stop(beat.stops) }
            poller(of: queue)?.note(beat: beat.claims)
        case .failure(let error):
            if error.code == .sessionLost || error.code == .notPermitted { return end(because: error) }
            logger.log(
                // A server that takes no calls either is logged with these.
                level: context.failures.note("heartbeat \(queue)") && !context.failures.isFailing("call \(queue)")
                    ? .warning : .debug,
                "no reply to a heartbeat; if that lasts for a lease, other workers get the jobs",
                metadata: ["job.queue": "\(queue)", "error": "\(error)"]
            )
        }
    }

    private func take(_ wakeUp: WakeUp) {
        switch wakeUp {
        case .work(let queue): poller(of: queue)?.hurry()
        case .claimed(let queue, let call, let claim): poller(of: queue)?.take(claim, answering: call)
        case .stop: heartbeatBox.withLock { $0 }?.beatNow()
        }
    }

    /// Ends the session: the broker no longer has it, or does not permit what a worker must do.
    private func end(because error: BrokerError) {
        if error.code == .notPermitted { return context.refused(because: error) }
        guard phase.lose(because: error) else { return }
        if error.code == .sessionLost { logger.debug("session lost", metadata: ["worker.id": "\(session.id)"]) }
        registration.end()
        for poller in pollers { poller.stopAll(.lost) }
    }

    /// Advances the shutdown: jobs that have not begun are released immediately, the others may finish until the time
    /// is over. Commands that ignore the request to stop are then killed.
    private func drain() {
        registration.wake()
        for poller in pollers { poller.stopAll(.released, onlyWaiting: !phase.isUrgent) }
        if phase.mustLeave { Task { [configuration] in _ = await configuration.endProcesses() } }
        moved.raise()
    }

    private func poller(of queue: String) -> QueuePoller? { pollers.first { $0.queue == queue } }
}

/// Whether an action is done.
private final class Ending: Sendable {
    let isReached = Atomic(false)
}
