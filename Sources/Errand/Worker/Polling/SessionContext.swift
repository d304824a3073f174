import Backgroundable
import Logging

/// What the parts of a session share. It does not change.
final class SessionContext: Sendable {
    let session: Session
    let wakeUpTimes = WakeUpTimes(since: .now)
    let broker: any WorkingBroker
    let configuration: WorkerConfiguration
    let limits: PollerLimits
    let operations: [String: RegisteredOperation]
    let middleware: MiddlewareChain
    /// The queue in which the jobs run.
    let localQueue: SlotQueue
    let budget: SlotBudget
    let overruns: Overruns
    let phase: SessionPhase
    let logger: Logger
    let jobLog: JobLog
    /// Failures that are retried.
    let failures = LastingFailures()
    /// Tells the worker that handlers do not return.
    let onStuck: @Sendable (WorkerStuck) -> Void

    init(
        session: Session,
        broker: any WorkingBroker,
        configuration: WorkerConfiguration,
        operations: [String: RegisteredOperation],
        middleware: MiddlewareChain,
        localQueue: SlotQueue,
        shutdown: Shutdown,
        overruns: Overruns,
        logger: Logger,
        onStuck: @escaping @Sendable (WorkerStuck) -> Void
    ) {
        self.session = session
        self.broker = broker
        self.configuration = configuration
        limits = PollerLimits(configuration)
        self.operations = operations
        self.middleware = middleware
        self.localQueue = localQueue
        budget = SlotBudget(concurrency: configuration.concurrency, weights: configuration.queues.map(\.weight))
        self.overruns = overruns
        phase = SessionPhase(shutdown)
        self.logger = logger
        jobLog = JobLog(logger, hasFinished: configuration.logsFinishedJobs)
        self.onStuck = onStuck
    }

    /// Drains the worker after a call was not permitted: running jobs may finish, and are reported if that is permitted
    /// again by then. A changed password should not interrupt work.
    func refused(because error: BrokerError) {
        guard phase.note(refusal: error) else { return }
        logger.warning(
            "the broker refuses this worker, which ends when its running jobs have ended",
            metadata: ["worker.id": "\(session.id)", "error": "\(error)"]
        )
        phase.shutdown.request()
    }

    /// Notes that a handler still runs after its run was reported.
    func noteOverrun(in queue: String) {
        logger.debug("a handler runs on after its end", metadata: ["job.queue": "\(queue)"])
        guard overruns.begin() else { return }
        let count = configuration.mostOverruns
        let what = "\(count) handlers run on although they were told to stop; let them check Task.isCancelled"
        onStuck(WorkerStuck(description: what, endsWorker: true))
        phase.shutdown.request()
    }
}
