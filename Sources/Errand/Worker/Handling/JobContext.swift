public import Logging

/// What a handler knows of the job that it runs, and what it can tell of it.
public struct JobContext: Sendable {
    let run: JobRun

    /// The job's id.
    public var id: String { run.id }
    /// The operation.
    public var operation: String { run.operation.name }
    /// The job's name, if it has one.
    public var name: String? { run.job.description.name }
    /// The queue it came from.
    public var queue: String { run.poller.queue }
    /// Which attempt this is, from 1. Crashes of workers and releases do not count.
    public var attempt: Int { run.attempt }
    /// The fence of this claim: it grows with every claim, so a store that keeps the greatest it has seen can refuse
    /// what a worker writes that was cut off meanwhile.
    public var token: Token { run.token }
    /// The arguments.
    public var arguments: JSONText { run.job.description.arguments }
    /// What travels along beside the arguments, such as a `traceparent`.
    public var meta: [String: String] { run.job.description.meta }
    /// Since when the job has been ready to run, in milliseconds since 1970 UTC by the broker's clock.
    public var readySince: Int64 { run.job.readySince }
    /// When the run times out; before it has begun, when it would if it began now.
    public var deadline: ContinuousClock.Instant { run.deadline }

    /// A logger that names the job.
    ///
    /// Made anew whenever it is asked for, so that jobs that log nothing pay nothing; who logs often keeps it in a
    /// variable.
    public var logger: Logger {
        var logger = run.logger
        logger[metadataKey: "job.id"] = "\(id)"
        logger[metadataKey: "job.operation"] = "\(operation)"
        logger[metadataKey: "job.queue"] = "\(queue)"
        logger[metadataKey: "job.attempt"] = "\(attempt)"
        return logger
    }

    /// Whether the run is to stop: it timed out, was cancelled, or the worker stops.
    public var isCancelled: Bool { run.isToldToStop }

    /// Has something done when the run is to stop, at once if that is so already: the place to close a connection or end a
    /// call that does not look at cancellation. As the expiration handler of Apple's background tasks.
    ///
    /// Called at most once, on any thread; it must not block. Not called when the run ends by itself; one that was told to stop may have ended
    /// a moment before.
    public func onExpiration(_ handler: @escaping @Sendable () -> Void) { run.onStop(handler) }

    /// Has the job released, whatever its handler returns then, if the worker is stopping or begins to within a fifth of a
    /// second: what has ended the job's work may reach the worker a moment later.
    package func releaseIfStopping() async {
        let workerSession = run.poller.workerSession
        // Nothing says that no signal is to come.
        if !workerSession.isDraining { try? await Task.sleep(for: .milliseconds(200)) }
        if workerSession.isDraining { run.stop(.released) }
    }
}
