public import Logging

/// A running job, as its handler sees it.
public struct JobContext: Sendable {
    let run: JobRun

    /// The job's id.
    public var id: String { run.id }
    /// The operation.
    public var operation: String { run.operation.name }
    /// The job's name, if it has one.
    public var name: String? { run.job.description.name }
    /// The queue it came from.
    public var queue: String { run.queue }
    /// The attempt, from 1. Crashes of workers and releases do not count.
    public var attempt: Int { run.attempt }
    /// The number of this claim. It grows with every claim, so a store that keeps the highest token it has seen can
    /// reject writes of a worker that has lost its claim.
    public var token: Token { run.token }
    /// The arguments.
    public var arguments: JSONText { run.job.description.arguments }
    /// Additional data that is stored with the arguments, such as a `traceparent`.
    public var meta: [String: String] { run.job.description.meta }
    /// The words by which the job can be found.
    public var tags: [String] { run.job.description.tags }
    /// When the job became ready, in milliseconds since 1970 UTC by the broker's clock.
    public var readySince: Int64 { run.job.readySince }
    /// When the run times out. Before it has begun, when it would time out if it began now.
    public var deadline: ContinuousClock.Instant { run.deadline }

    /// A logger that names the job.
    ///
    /// It is created at each access, so that jobs that log nothing cost nothing. A handler that logs often should keep
    /// it in a variable.
    public var logger: Logger {
        var logger = run.session.logger
        logger[metadataKey: "job.id"] = "\(id)"
        logger[metadataKey: "job.operation"] = "\(operation)"
        logger[metadataKey: "job.queue"] = "\(queue)"
        logger[metadataKey: "job.attempt"] = "\(attempt)"
        return logger
    }

    /// Whether the run has to stop: it timed out, was cancelled, or the worker stops.
    public var isCancelled: Bool { run.isToldToStop }

    /// Calls a handler when the run has to stop, immediately if it already has to. Use it to close a connection or to
    /// end a call that does not check for cancellation. It works like the expiration handler of Apple's background
    /// tasks.
    ///
    /// The handler is called at most once, on any thread, and must not block. It is not called if the run ends by
    /// itself; a run that was asked to stop may have ended a moment before.
    public func onExpiration(_ handler: @escaping @Sendable () -> Void) { run.onStop(handler) }

    /// Releases the job, whatever its handler then returns, if the worker is stopping or starts to within 200 ms: the
    /// signal that ended the job's work may reach the worker a moment later.
    package func releaseIfStopping() async {
        let phase = run.session.phase
        // Without a signal so far, one may still arrive.
        if !phase.isDraining { try? await Task.sleep(for: .milliseconds(200)) }
        if phase.isDraining { run.stop(.released) }
    }
}
