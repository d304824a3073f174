#if TracingSupport
    public import Tracing

    /// Connects the trace of a request that pushes a job with that of the worker that runs it.
    ///
    /// A push is a span of kind `producer`. Its context is stored in the description's `meta`, as `traceparent` and
    /// other keys that the tracer injects. A run is a span of kind `consumer`, named after the operation, with a link
    /// to the push: it is not a child, because a job may run days later and more than once.
    ///
    /// | attribute | span | value |
    /// |---|---|---|
    /// | `job.queue` | both | the queue |
    /// | `job.operation` | push of one job | the operation |
    /// | `job.count` | push | how many jobs |
    /// | `job.id`, `job.attempt` | run | the job's id, the attempt from 1 |
    ///
    /// ```swift
    /// let producer = Producer(broker: broker, middleware: [TracingMiddleware()])
    /// let worker = Worker(broker: broker, middleware: [TracingMiddleware()], logger: logger)
    /// ```
    public struct TracingMiddleware: JobMiddleware {
        private let given: (any Tracer)?
        private let continuesTraces: Bool

        private var tracer: any Tracer { given ?? InstrumentationSystem.tracer }

        /// Makes the middleware.
        ///
        /// - Parameters:
        ///   - tracer: the tracer; by default the one with which `InstrumentationSystem` was bootstrapped.
        ///   - continuesTraces: whether runs are children of the push, in its trace, instead of spans with a link to
        ///     it.
        public init(tracer: (any Tracer)? = nil, continuesTraces: Bool = false) {
            given = tracer
            self.continuesTraces = continuesTraces
        }

        /// Pushes the jobs within a span, and adds its context to their `meta`.
        public func pushJobs(
            _ jobs: [OperationDescription],
            next: ([OperationDescription]) async throws -> [Receipt]
        ) async throws -> [Receipt] {
            let tracer = tracer
            let span = tracer.startSpan(
                jobs.count == 1 ? "push \(jobs[0].operation)" : "push \(jobs.count) jobs",
                context: ServiceContext.current ?? .topLevel,
                ofKind: .producer
            )
            defer { span.end() }
            span.attributes["job.count"] = jobs.count
            if let only = jobs.first, jobs.count == 1 {
                span.attributes["job.operation"] = only.operation
                span.attributes["job.queue"] = only.queue
            }
            var carrier: [String: String] = [:]
            tracer.inject(span.context, into: &carrier, using: DictionaryInjector())
            do { return try await next(jobs.map { try $0.adding(meta: carrier) }) } catch {
                span.recordError(error)
                span.setStatus(SpanStatus(code: .error))
                throw error
            }
        }

        /// Runs the handler within a span.
        public func handleJob(
            _ job: JobContext,
            next: (JobContext) async throws -> HandlerOutcome
        ) async throws -> HandlerOutcome {
            let tracer = tracer
            var pushed = ServiceContext.topLevel
            tracer.extract(job.meta, into: &pushed, using: DictionaryExtractor())
            let span = tracer.startSpan(
                job.operation,
                context: continuesTraces ? pushed : .topLevel,
                ofKind: .consumer
            )
            defer { span.end() }
            if !continuesTraces, !pushed.isEmpty { span.addLink(SpanLink(context: pushed, attributes: [:])) }
            span.attributes["job.id"] = job.id
            span.attributes["job.queue"] = job.queue
            span.attributes["job.attempt"] = job.attempt
            do {
                let outcome = try await ServiceContext.$current.withValue(span.context) { try await next(job) }
                if case .failed = outcome { span.setStatus(SpanStatus(code: .error)) }
                return outcome
            } catch {
                span.recordError(error)
                span.setStatus(SpanStatus(code: .error))
                throw error
            }
        }
    }

    private struct DictionaryInjector: Injector {
        func inject(_ value: String, forKey key: String, into carrier: inout [String: String]) { carrier[key] = value }
    }

    private struct DictionaryExtractor: Extractor {
        func extract(key: String, from carrier: [String: String]) -> String? { carrier[key] }
    }
#endif
