import Logging
import Synchronization

/// Registers a session on its queues, on each as soon as the broker answers for it.
///
/// A worker begins with the queues for which the broker answers, and serves the others later: if one master of a
/// cluster is lost, the queues of the other masters have nothing to do with that.
final class SessionRegistration: Sendable {
    private struct State {
        var registered: Set<String> = []
        var isTold = false
        var isOver = false
        var refusal: BrokerError?
    }

    /// How long a worker that can begin waits for its other queues, while nothing sends its heartbeats yet.
    private var patience: Duration { min(.seconds(1), session.lease / 4) }

    private let session: Session
    private let broker: any WorkingBroker
    private let shutdown: Shutdown
    private let logger: Logger
    private let tell: @Sendable (WorkerEvent) -> Void
    private let state = Mutex(State())
    /// Raised when any queue is registered, or the worker is to stop.
    private let moved = Signal()
    /// Raised when the queue is registered, or the worker is to stop.
    private let arrivals: [String: Signal]

    /// Begins to store the schedules, and to register.
    init(
        of session: Session,
        storing schedules: [Schedule],
        broker: any WorkingBroker,
        shutdown: Shutdown,
        logger: Logger,
        tell: @escaping @Sendable (WorkerEvent) -> Void
    ) {
        self.session = session
        self.broker = broker
        self.shutdown = shutdown
        self.logger = logger
        self.tell = tell
        let schedules = Dictionary(grouping: schedules, by: \.queue)
        let queues = Set(session.queues).union(schedules.keys)
        arrivals = Dictionary(session.queues.map { ($0, Signal()) }) { first, _ in first }
        for queue in queues { Task { await self.register(on: queue, storing: schedules[queue] ?? []) } }
    }

    /// The queues on which the session is registered, in their order.
    var registered: [String] {
        let registered = state.withLock { $0.registered }
        return session.queues.filter(registered.contains)
    }

    /// Waits until the session is registered on all queues, or on some of them while the broker does not answer for the
    /// others. Returns `false` if the worker was asked to stop meanwhile.
    func begin() async throws(BrokerError) -> Bool {
        var deadline: ContinuousClock.Instant?
        shutdown.onChange { [weak self] in self?.wake() }
        while !shutdown.isRequested {
            if let refusal = state.withLock({ $0.refusal }) { throw refusal }
            let missing = missing
            if missing.isEmpty { return true }
            if missing.count < session.queues.count { deadline = deadline ?? .now + patience }
            if let deadline, .now >= deadline { return true }
            await moved.wait(for: deadline.map { $0 - .now } ?? .seconds(60))
        }
        return false
    }

    /// The queues on which the session is not registered yet.
    var missing: [String] {
        let registered = state.withLock { $0.registered }
        return session.queues.filter { !registered.contains($0) }
    }

    /// Waits until the session is registered on a queue, however long it takes. Returns whether it is: not if the worker
    /// stops or the session ends first.
    func awaitRegistration(on queue: String) async throws(BrokerError) -> Bool {
        while true {
            let state = state.withLock { $0 }
            if state.registered.contains(queue) { return true }
            if let refusal = state.refusal { throw refusal }
            if isOver { return false }
            await arrivals[queue]?.wait(for: .seconds(60))
        }
    }

    /// Registers on no further queue, because the session ends.
    func end() {
        state.withLock { $0.isOver = true }
        wake()
    }

    /// Looks again whether the worker is to stop.
    func wake() {
        moved.raise()
        for signal in arrivals.values { signal.raise() }
    }

    private var isOver: Bool { shutdown.isRequested || state.withLock { $0.isOver } }

    private func register(on queue: String, storing schedules: [Schedule]) async {
        do throws(BrokerError) {
            // Schedules are stored before the session exists there: nothing sends its heartbeats yet, and storing may
            // take any time.
            for schedule in schedules { try await put(schedule) }
            guard session.queues.contains(queue), !isOver else { return }
            let isDone = try await insist(on: queue, [.notReachable, .outcomeUnknown, .full]) {
                () throws(BrokerError) in
                try await self.broker.register(self.session, on: queue)
            }
            if isDone { state.withLock { _ = $0.registered.insert(queue) } }
        } catch {
            state.withLock { $0.refusal = $0.refusal ?? error }
            logger.error("queue not registered", metadata: ["job.queue": "\(queue)", "error": "\(error)"])
        }
        moved.raise()
        arrivals[queue]?.raise()
    }

    /// Stores a schedule in the broker. The worker also runs if the broker rejects a schedule.
    private func put(_ schedule: Schedule) async throws(BrokerError) {
        let metadata: Logger.Metadata = ["schedule": "\(schedule.name)", "job.queue": "\(schedule.queue)"]
        do throws(BrokerError) {
            _ = try await insist(on: schedule.queue, [.notReachable, .outcomeUnknown]) { () throws(BrokerError) in
                switch try await self.broker.put(schedule) {
                case .unchanged: break
                case .created: self.logger.info("schedule created", metadata: metadata)
                case .changed: self.logger.info("schedule changed", metadata: metadata)
                case .outdated(let revision):
                    let stored = try await (self.broker as? any SchedulingBroker)?.schedule(
                        schedule.name,
                        on: schedule.queue
                    )
                    self.logger.warning("\(schedule.leftOut(for: stored, revision))", metadata: metadata)
                }
            }
        } catch {
            guard [.refused, .full].contains(error.code) else { throw error }
            logger.error("schedule not stored", metadata: metadata.merging(["error": "\(error)"]) { $1 })
        }
    }

    /// Repeats a call while the broker is unreachable. Returns whether it has succeeded: not if the worker stops or the
    /// session ends first.
    private func insist(
        on queue: String,
        _ passing: [BrokerError.Code],
        _ call: () async throws(BrokerError) -> Void
    ) async throws(BrokerError) -> Bool {
        var pause = Duration.milliseconds(50)
        while !isOver {
            do throws(BrokerError) {
                try await call()
                return true
            } catch {
                guard passing.contains(error.code) else { throw error }
                logger.debug("not registered", metadata: ["job.queue": "\(queue)", "error": "\(error)"])
                tellOnce(error)
            }
            // A pause may outlast the worker's end, since no task waits for this one.
            try? await Task.sleep(for: pause)
            pause = min(pause * 2, .seconds(2))
        }
        return false
    }

    private func tellOnce(_ error: BrokerError) {
        let isFirst = state.withLock { state in
            defer { state.isTold = true }
            return !state.isTold
        }
        if isFirst { tell(.waitingForBroker(error)) }
    }
}
