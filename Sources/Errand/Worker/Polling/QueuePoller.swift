import Backgroundable
import Logging
import Synchronization

/// Polls one queue within a session: reports ended runs and claims as many new jobs, one numbered call after the other,
/// as long as the session lives. It executes what its ``PollerState`` decides.
final class QueuePoller: Sendable {
    let queue: String
    let context: SessionContext
    let slots: SlotShare
    let state: Mutex<PollerState<JobRun>>
    /// The newest token for which a job has begun, which heartbeats also report.
    let begun = Atomic<Token>(0)
    /// The runs that were not recorded yet.
    let runs = RunCounter()
    /// Raised when there may be something to do: a wake-up, an ended run, a free slot, or the end.
    let signal = Signal()
    /// Raised when enough reports are waiting to be worth a call.
    let enough = Signal()
    /// Raised when the queue's maintenance should look when the next group may run again.
    let maintenance = Signal()

    init(_ queue: String, _ context: SessionContext, slots: SlotShare) {
        self.queue = queue
        self.context = context
        self.slots = slots
        state = Mutex(
            PollerState(session: context.session, limits: context.limits, slots: slots, looksAt: context.wakeUpTimes)
        )
    }

    /// The newest token for which a job has begun.
    var begunToken: Token { begun.load(ordering: .relaxed) }

    /// Works until the session ends, or the worker drains and has no jobs left.
    func work() async throws(BrokerError) {
        while true {
            switch decide({ $0.next(at: .now, begun: begunToken) }) {
            case .run(let reply, let thenWaits):
                run(reply)
                if thenWaits { await signal.wait(for: .milliseconds(1)) }
            case .send(let exchange, let last):
                guard let reply = try await send(exchange, running: last) else { return }
                for job in reply.expired { noteDiscarded(job.id, job.operation, .expired) }
                state.withLock { $0.answered(reply, to: exchange.call, at: .now) }
                if reply.needsPromotion { maintenance.raise() }
            case .gather(let longest): await enough.wait(for: longest)
            case .reconcile(let call): try await reconcile(call)
            case .promote: await promote()
            case .wait(let duration): await signal.wait(for: duration)
            case .finish:
                guard context.phase.isLost else { return }
                throw BrokerError(.sessionLost, "the broker does not know this session any more")
            }
        }
    }

    /// Asks the state for a decision, which depends on how far the session has come.
    func decide<Decision>(_ ask: (inout PollerState<JobRun>) -> Decision) -> Decision {
        let (isLost, isDraining) = (context.phase.isLost, context.phase.isDraining)
        return state.withLock { state in
            (state.isLost, state.isDraining) = (isLost, isDraining)
            return ask(&state)
        }
    }

    /// Promotes due jobs.
    private func promote() async {
        do throws(BrokerError) {
            let found = try await context.broker.promote(on: queue).promoted > 0
            state.withLock { $0.promoted(found) }
        } catch {
            context.logger.debug(
                "due jobs cannot be made ready",
                metadata: ["job.queue": "\(queue)", "error": "\(error)"]
            )
        }
    }

    // MARK: Inputs

    /// Continues because a slot may be free, or the end may have come.
    func wake() { signal.raise() }

    /// Continues because there may be ready jobs.
    func hurry() {
        state.withLock { $0.wokenUp() }
        wake()
    }

    /// Runs a claim with which a push has pre-answered a call, on this thread if the poller waits, because the job would
    /// otherwise begin only when a thread has woken for the poller.
    func take(_ claim: Claim, answering call: Int) {
        let dispatch = DirectDispatch(call: call, claim: claim, since: .now)
        if let reply = decide({ $0.wokenUp(with: dispatch, at: .now) }) {
            run(reply)
            state.withLock { $0.begunDispatched() }
        }
        wake()
    }

    /// Notes the number of claims that the broker has for this session, from a beat.
    func note(beat claims: Int) {
        if state.withLock({ $0.heartbeatReplied(claims: claims) }) { wake() }
    }

    /// Raises the signal that a new report calls for.
    func wake(_ wake: PollerState<JobRun>.Wake) {
        switch wake {
        case .nothing: break
        case .poller: signal.raise()
        case .gathering: enough.raise()
        }
    }
}
