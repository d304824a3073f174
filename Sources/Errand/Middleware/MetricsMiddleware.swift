#if MetricsSupport
    public import Metrics
    import Synchronization

    #if canImport(FoundationEssentials)
        import FoundationEssentials
    #else
        import Foundation
    #endif

    /// Counts and times jobs with swift-metrics. The dimensions are those of swift-jobs, so that its dashboards can be
    /// used.
    ///
    /// | metric | kind | dimensions |
    /// |---|---|---|
    /// | `errand.jobs.pushed` | counter | `name`, `queue`, `status`: accepted, dropped, replaced, deferred, exists, unknown |
    /// | `errand.jobs` | counter: ended runs | `name`, `queue`, `status`: succeeded, retried, failed, cancelled, snoozed, released, lost |
    /// | `errand.jobs.timed_out` | counter: runs that timed out | `name`, `queue` |
    /// | `errand.jobs.discarded` | counter: claimed jobs that a worker cannot run | `queue`, `reason`: unreadable, unknown_operation |
    /// | `errand.jobs.duration` | timer: how long handlers ran | `name`, `queue`, `status` |
    /// | `errand.jobs.queued.duration` | timer: how long jobs were ready | `name`, `queue` |
    /// | `errand.jobs.processing` | meter: jobs that this process has claimed | `name`, `queue` |
    ///
    /// The number of waiting jobs is known to the broker only: see `/metrics` of the dashboard.
    ///
    /// Each metric is created once for each combination of its dimensions. `name` is an operation that this process
    /// runs or pushes, so other jobs of a queue create no metrics.
    public final class MetricsMiddleware: JobMiddleware {
        fileprivate struct Key: Hashable {
            let label: String
            var name: String?
            let queue: String
            var status: String?
            var reason: String?

            var dimensions: [(String, String)] {
                let all = [("name", name), ("queue", queue), ("status", status), ("reason", reason)]
                return all.compactMap { name, value in value.map { (name, $0) } }
            }
        }

        private struct Instruments {
            var counters: [Key: Counter] = [:]
            var timers: [Key: Metrics.Timer] = [:]
            var meters: [Key: Meter] = [:]
        }

        private let factory: any MetricsFactory
        private let instruments = Mutex(Instruments())

        /// Makes the middleware. Use one instance for all producers and workers of a process.
        ///
        /// - Parameter factory: the metrics factory; by default the one with which `MetricsSystem` was bootstrapped.
        public init(factory: (any MetricsFactory)? = nil) { self.factory = factory ?? MetricsSystem.factory }

        /// Counts the receipts.
        public func pushJobs(
            _ jobs: [OperationDescription],
            next: ([OperationDescription]) async throws -> [Receipt]
        ) async throws -> [Receipt] {
            let receipts = try await next(jobs)
            for (job, receipt) in zip(jobs, receipts) {
                count(
                    Key(
                        label: "errand.jobs.pushed",
                        name: job.operation,
                        queue: job.queue,
                        status: receipt.outcome.rawValue
                    )
                )
            }
            return receipts
        }

        /// Counts another job of this process, and records how long it was ready.
        public func claimedJob(_ job: JobContext) {
            meter(of: job).increment()
            // The clocks of the broker and of this process may differ; a wait is never negative.
            let waited = max(0, Date().timeIntervalSince1970 * 1000 - Double(job.readySince))
            record(Key(label: "errand.jobs.queued.duration", job), .milliseconds(min(waited, 1e12)))
        }

        /// Counts the job.
        public func discardedJob(_ job: DiscardedJob) {
            count(Key(label: "errand.jobs.discarded", queue: job.queue, reason: job.reason.description))
        }

        /// Counts and times the run.
        public func finishedJob(_ job: JobContext, _ ending: RunEnding) {
            meter(of: job).decrement()
            count(Key(label: "errand.jobs", job, ending.status.description))
            record(Key(label: "errand.jobs.duration", job, ending.status.description), ending.duration)
            if ending.timedOut { count(Key(label: "errand.jobs.timed_out", job)) }
        }

        private func count(_ key: Key) {
            instruments.withLock { instruments in
                instruments.counters.value(for: key) {
                    Counter(label: key.label, dimensions: key.dimensions, factory: factory)
                }
            }.increment()
        }

        private func record(_ key: Key, _ duration: Duration) {
            let timer = instruments.withLock { instruments in
                instruments.timers.value(for: key) {
                    Metrics.Timer(label: key.label, dimensions: key.dimensions, factory: factory)
                }
            }
            timer.recordNanoseconds(Int64(clamping: duration.wholeMicroseconds) * 1000)
        }

        private func meter(of job: JobContext) -> Meter {
            let key = Key(label: "errand.jobs.processing", job)
            return instruments.withLock { instruments in
                instruments.meters.value(for: key) {
                    Meter(label: key.label, dimensions: key.dimensions, factory: factory)
                }
            }
        }
    }

    extension MetricsMiddleware.Key {
        fileprivate init(label: String, _ job: JobContext, _ status: String? = nil) {
            self.init(label: label, name: job.operation, queue: job.queue, status: status)
        }
    }

    extension Dictionary {
        /// Returns the value of a key, which is made at its first use.
        fileprivate mutating func value(for key: Key, _ make: () -> Value) -> Value {
            if let known = self[key] { return known }
            let made = make()
            self[key] = made
            return made
        }
    }

    extension Duration {
        /// Whole microseconds, clamped to a century.
        fileprivate var wholeMicroseconds: Int {
            let microseconds = components.attoseconds / 1_000_000_000_000
            return (wholeMilliseconds / 1000) * 1_000_000 + Int(microseconds)
        }
    }
#endif
