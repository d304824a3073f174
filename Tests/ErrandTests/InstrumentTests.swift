import Errand
import InMemoryTracing
import Instrumentation
import Logging
import MetricsTestKit
import TestSupport
import Testing
import Tracing

/// Traces and metrics of a request through its job, with the instruments that swift-metrics and swift-distributed-tracing
/// provide for tests.
@Suite struct InstrumentTests {
    /// A worker on an in-memory broker whose operation fails once and then succeeds.
    ///
    /// It starts after the push, whose span would otherwise end before or after those of the runs.
    private func work(
        _ middleware: [any JobMiddleware],
        _ push: (Producer) async throws -> Receipt
    ) async throws -> Receipt {
        let broker = MemoryBroker()
        let worker = Worker(
            broker: broker,
            operations: [
                RegisteredOperation("work", retries: 1) { job in
                    if job.attempt == 1 { throw JobFailure("not yet", retryAfter: .zero) }
                    InstrumentationSystem.tracer.startSpan("never recorded", ofKind: .internal).end()
                }
            ],
            middleware: middleware,
            logger: Logger(label: "instruments")
        )
        let producer = Producer(broker: broker, middleware: middleware)
        let receipt = try await push(producer)
        let running = Task { try await worker.run() }
        let ending = try await producer.ending(of: receipt, within: .seconds(120))
        #expect(ending.state == .finished)
        running.cancel()
        try await running.value
        return receipt
    }

    @Test func `a trace follows a job from the request to its runs`() async throws {
        let tracer = InMemoryTracer(idGenerator: .incrementing)
        let receipt = try await work([TracingMiddleware(tracer: tracer)]) { producer in
            try await tracer.withSpan("POST /order", ofKind: .server) { _ in
                try await producer.push(OperationDescription("work", meta: ["tenant": "a"]))
            }
        }
        let spans = tracer.finishedSpans
        #expect(spans.map(\.operationName) == ["push work", "POST /order", "work", "work"])
        let (push, request, runs) = (try #require(spans.first), spans[1], spans[2...])
        #expect(push.kind == .producer)
        #expect(push.parentSpanID == request.spanID)
        #expect(push.traceID == request.traceID)
        #expect(runs.map(\.kind) == [.consumer, .consumer])
        for (number, run) in runs.enumerated() {
            #expect(run.parentSpanID == nil)
            #expect(run.links.map { $0.context.inMemorySpanContext?.spanID } == [push.spanID])
            #expect(run.attributes["job.id"]?.toSpanAttribute() == .string(receipt.id))
            #expect(run.attributes["job.attempt"]?.toSpanAttribute() == .int64(Int64(number + 1)))
        }
        #expect(runs.map { $0.errors.count } == [1, 0])
        #expect(runs.map { $0.status?.code } == [.error, nil])
    }

    @Test func `a trace can continue in the runs`() async throws {
        let tracer = InMemoryTracer(idGenerator: .incrementing)
        _ = try await work([TracingMiddleware(tracer: tracer, continuesTraces: true)]) { producer in
            try await producer.push(OperationDescription("work"))
        }
        let spans = tracer.finishedSpans
        let push = try #require(spans.first)
        #expect(spans.count == 3)
        #expect(spans.dropFirst().allSatisfy { $0.traceID == push.traceID && $0.parentSpanID == push.spanID })
        #expect(spans.allSatisfy { $0.links.isEmpty })
    }

    @Test func `what was pushed and how runs ended is counted and timed`() async throws {
        let metrics = TestMetrics()
        _ = try await work([MetricsMiddleware(factory: metrics)]) { producer in
            try await producer.push(OperationDescription("work"))
        }
        let job = [("name", "work"), ("queue", "default")]
        func count(_ label: String, _ status: String) throws -> Int64 {
            try metrics.expectCounter(label, job + [("status", status)]).totalValue
        }
        #expect(try count("errand.jobs.pushed", "accepted") == 1)
        #expect(try count("errand.jobs", "retried") == 1)
        #expect(try count("errand.jobs", "succeeded") == 1)
        #expect(metrics.counters.count == 3)
        #expect(try metrics.expectTimer("errand.jobs.queued.duration", job).values.count == 2)
        for status in ["retried", "succeeded"] {
            let timer = try metrics.expectTimer("errand.jobs.duration", job + [("status", status)])
            #expect(timer.values.count == 1)
        }
        #expect(metrics.timers.count == 3)
        let held = try metrics.expectMeter("errand.jobs.processing", job)
        #expect(held.values == [1, 0, 1, 0])
    }

    @Test func `what a worker cannot run is counted, without the names that it does not know`() async throws {
        let metrics = TestMetrics()
        let broker = MemoryBroker()
        let worker = Worker(
            broker: broker,
            operations: [RegisteredOperation("work") { _ in }],
            middleware: [MetricsMiddleware(factory: metrics)],
            logger: Logger(label: "instruments")
        )
        let producer = Producer(broker: broker)
        _ = try await producer.push(OperationDescription("unheard"))
        let running = Task { try await worker.run() }
        try await eventually("the job waits for another worker") {
            try await broker.status(of: "default").queue.unknownOperations == ["unheard": 1]
        }
        running.cancel()
        try await running.value
        let dimensions = [("queue", "default"), ("reason", "unknown_operation")]
        #expect(try metrics.expectCounter("errand.jobs.discarded", dimensions).totalValue == 1)
        #expect(metrics.counters.count == 1 && metrics.meters.isEmpty)
    }
}
