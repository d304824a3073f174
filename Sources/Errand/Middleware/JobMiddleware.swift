/// Something that is done around all jobs: at their push, at their claim, around their handler, at the end of their run,
/// and where a worker cannot run one.
///
/// Middleware is given to a ``Producer`` or a ``Worker``; the first one in the list is the outermost. Every hook has a
/// default that does nothing, so write those you need. ``TracingMiddleware`` and ``MetricsMiddleware`` ship with Errand.
///
/// ```swift
/// struct Tenants: JobMiddleware {
///     func handleJob(_ job: JobContext, next: (JobContext) async throws -> HandlerOutcome) async throws -> HandlerOutcome {
///         try await Tenant.$current.withValue(job.meta["tenant"]) { try await next(job) }
///     }
/// }
/// ```
///
/// Task-local values that `handleJob` sets are seen by `async` and by blocking handlers.
public protocol JobMiddleware: Sendable {
    /// Pushes jobs. May change what is pushed, and must call `next`, at most once, unless it refuses them by an error.
    ///
    /// Called by ``Producer/push(_:)-(OperationDescription)`` and its relatives; not for envelopes that are settled already,
    /// and not for the jobs of schedules.
    func pushJobs(
        _ jobs: [OperationDescription],
        next: ([OperationDescription]) async throws -> [Receipt]
    ) async throws -> [Receipt]

    /// A worker was handed a job. It may still wait for a slot. Must not block.
    func claimedJob(_ job: JobContext)

    /// Runs a job's handler by calling `next`, once.
    ///
    /// - Throws: whatever the handler throws: it decides what becomes of the run, as in ``OperationHandler``.
    func handleJob(
        _ job: JobContext,
        next: (JobContext) async throws -> HandlerOutcome
    ) async throws -> HandlerOutcome

    /// A worker was handed a job that it cannot run. There is no ``claimedJob(_:)`` of it. Must not block.
    func discardedJob(_ job: DiscardedJob)

    /// A run has ended, and is about to be reported. Called once for each ``claimedJob(_:)``. Must not block.
    func finishedJob(_ job: JobContext, _ ending: RunEnding)
}

extension JobMiddleware {
    /// Just pushes them.
    public func pushJobs(
        _ jobs: [OperationDescription],
        next: ([OperationDescription]) async throws -> [Receipt]
    ) async throws -> [Receipt] { try await next(jobs) }

    /// Does nothing.
    public func claimedJob(_ job: JobContext) {}

    /// Just runs it.
    public func handleJob(
        _ job: JobContext,
        next: (JobContext) async throws -> HandlerOutcome
    ) async throws -> HandlerOutcome { try await next(job) }

    /// Does nothing.
    public func discardedJob(_ job: DiscardedJob) {}

    /// Does nothing.
    public func finishedJob(_ job: JobContext, _ ending: RunEnding) {}
}

/// How a run ended, as far as the worker can tell: whether its report counts is for the broker to say.
public struct RunEnding: Sendable {
    /// What became of the run. More may come in a minor release.
    public struct Status: Sendable, Hashable, CustomStringConvertible {
        /// The word for it, as in metrics.
        public let description: String

        /// The job is done.
        public static let succeeded = Status(description: "succeeded")
        /// It failed or timed out, and is tried again.
        public static let retried = Status(description: "retried")
        /// It failed or timed out for the last time: the job is dead.
        public static let failed = Status(description: "failed")
        /// It was cancelled, or replaced by a newer job.
        public static let cancelled = Status(description: "cancelled")
        /// Its handler asked to be called again later.
        public static let snoozed = Status(description: "snoozed")
        /// The worker gives it back with nothing spent, because it stops, or the job waited too long for a slot.
        public static let released = Status(description: "released")
        /// The worker lost its session: somebody else runs the job, and nothing is reported.
        public static let lost = Status(description: "lost")
    }

    /// What became of it.
    public let status: Status
    /// Whether it took longer than its timeout.
    public let timedOut: Bool
    /// How long its handler ran; zero when it did not begin.
    public let duration: Duration
    /// Why it did not succeed.
    public let error: String?
}
