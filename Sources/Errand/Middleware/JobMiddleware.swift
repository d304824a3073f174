/// Code that runs around all jobs: at their push, at their claim, around their handler, at the end of their run, and if
/// a worker cannot run one.
///
/// Pass middleware to a ``Producer`` or a ``Worker``; the first in the list is the outermost. Every hook has a default
/// implementation that changes nothing, so implement only those you need. Errand includes ``TracingMiddleware`` and
/// ``MetricsMiddleware``.
///
/// ```swift
/// struct Tenants: JobMiddleware {
///     func handleJob(_ job: JobContext, next: (JobContext) async throws -> HandlerOutcome) async throws -> HandlerOutcome {
///         try await Tenant.$current.withValue(job.meta["tenant"]) { try await next(job) }
///     }
/// }
/// ```
///
/// Task-local values that `handleJob` sets are visible to both `async` and blocking handlers.
public protocol JobMiddleware: Sendable {
    /// Pushes jobs. It may change the jobs, and must call `next`, at most once, unless it throws to reject them.
    ///
    /// Called by ``Producer/push(_:)-(OperationDescription)`` and related methods, but not for envelopes and not for
    /// the jobs of schedules.
    func pushJobs(
        _ jobs: [OperationDescription],
        next: ([OperationDescription]) async throws -> [Receipt]
    ) async throws -> [Receipt]

    /// Called after a worker has claimed a job, which may still wait for a slot. Must not block: the caller may be the
    /// thread that receives the session's wake-ups.
    func claimedJob(_ job: JobContext)

    /// Runs a job's handler by calling `next` once.
    ///
    /// - Throws: the handler's error, or another one, which determines the outcome of the run as in
    ///   ``OperationHandler``.
    func handleJob(
        _ job: JobContext,
        next: (JobContext) async throws -> HandlerOutcome
    ) async throws -> HandlerOutcome

    /// Called after a worker has claimed a job that it cannot run, or found one expired, instead of ``claimedJob(_:)``.
    /// Must not block.
    func discardedJob(_ job: DiscardedJob)

    /// Called once for each ``claimedJob(_:)``, when a run has ended and before it is reported. Must not block.
    func finishedJob(_ job: JobContext, _ ending: RunEnding)
}

extension JobMiddleware {
    /// Pushes the jobs unchanged.
    public func pushJobs(
        _ jobs: [OperationDescription],
        next: ([OperationDescription]) async throws -> [Receipt]
    ) async throws -> [Receipt] { try await next(jobs) }

    /// Does nothing.
    public func claimedJob(_ job: JobContext) {}

    /// Runs the handler.
    public func handleJob(
        _ job: JobContext,
        next: (JobContext) async throws -> HandlerOutcome
    ) async throws -> HandlerOutcome { try await next(job) }

    /// Does nothing.
    public func discardedJob(_ job: DiscardedJob) {}

    /// Does nothing.
    public func finishedJob(_ job: JobContext, _ ending: RunEnding) {}
}

/// How a run ended in the worker. The broker decides whether its report counts.
public struct RunEnding: Sendable {
    /// The status of an ended run. A minor release may add more.
    public struct Status: Sendable, Hashable, CustomStringConvertible {
        /// The name of the status, as in metrics.
        public let description: String

        /// The job has finished.
        public static let succeeded = Status(description: "succeeded")
        /// The run failed or timed out, and the job is retried.
        public static let retried = Status(description: "retried")
        /// The run failed or timed out for the last time: the job is dead.
        public static let failed = Status(description: "failed")
        /// The job was cancelled, or replaced by a newer job.
        public static let cancelled = Status(description: "cancelled")
        /// The handler asked to run again later.
        public static let snoozed = Status(description: "snoozed")
        /// The worker releases the job, which spends nothing, because it stops or the job has waited too long for a
        /// slot.
        public static let released = Status(description: "released")
        /// The worker lost its session: another worker runs the job, and nothing is reported.
        public static let lost = Status(description: "lost")
    }

    /// The status of the run.
    public let status: Status
    /// Whether the run took longer than its timeout.
    public let timedOut: Bool
    /// How long the handler ran; zero if it did not begin.
    public let duration: Duration
    /// Why the run did not succeed.
    public let error: String?
}
