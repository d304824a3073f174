import Errand
import Foundation
import Testing

/// Pushed jobs that are found and cancelled again by their receipts.
@Suite struct ProducerJobsTests {
    private let broker = MemoryBroker()
    private var producer: Producer { Producer(broker: broker) }

    private func push(_ id: String, to queue: String) async throws -> Receipt {
        try await producer.push(OperationDescription("work", queue: queue, id: id))
    }

    @Test func `a stored receipt is enough to find its job`() async throws {
        let receipt = try await push("a", to: "images")
        let stored = try JSONEncoder().encode(receipt)
        let read = try JSONDecoder().decode(Receipt.self, from: stored)
        #expect(read == receipt)
        #expect(String(decoding: stored, as: UTF8.self).contains(#""outcome":"accepted""#))
        #expect(try await producer.job(read)?.id == "a")
        #expect(try await producer.status(of: read) == .ready)
        let other = Receipt(id: "b", queue: "images", outcome: .accepted)
        #expect(try await producer.job(other) == nil)
        #expect(try await producer.status(of: other) == nil)
    }

    @Test func `an id alone is looked for in all queues`() async throws {
        _ = try await push("a", to: "images")
        _ = try await push("b", to: "mail")
        #expect(try await producer.job("b")?.queue == "mail")
        #expect(try await producer.job("b", in: "images") == nil)
        #expect(try await producer.job("c") == nil)
    }

    @Test func `a job is cancelled by its receipt`() async throws {
        let receipt = try await push("a", to: "images")
        #expect(try await producer.cancel(receipt) == .cancelled)
        #expect(try await producer.status(of: receipt) == .cancelled)
        #expect(try await producer.cancel(receipt) == .ended)
        #expect(try await producer.cancel(Receipt(id: "b", queue: "images", outcome: .accepted)) == .notFound)
    }

    @Test func `updates show each change until the end, and then stop`() async throws {
        let receipt = try await push("a", to: "images")
        let worker = Worker(broker: broker, configuration: WorkerConfiguration(queues: [.init("images")]))
        let (gate, opens) = AsyncStream.makeStream(of: Void.self)
        worker.register(
            RegisteredOperation("work") { context in
                try await context.progress(0.5, "half")
                for await _ in gate { break }
            }
        )
        var states: [JobState] = []
        var work: Task<Void, any Error>?
        for try await job in producer.updates(of: receipt) {
            if states.last != job.state { states.append(job.state) }
            if work == nil { work = Task { try await worker.run() } }
            if job.progress?.fraction == 0.5 { opens.finish() }
        }
        #expect(states.first == .ready && states.last == .finished, "\(states)")
        #expect(states == [.ready, .running, .finished], "\(states)")
        work?.cancel()
        try await work?.value
        // Of a job that has ended, and of one that is not there.
        #expect(try await producer.updates(of: receipt).reduce(into: []) { $0.append($1.state) } == [.finished])
        let other = Receipt(id: "b", queue: "images", outcome: .accepted)
        #expect(try await producer.updates(of: other).reduce(into: []) { $0.append($1.state) } == [])
    }

    @Test func `an outcome of a later version is an error, not a wrong receipt`() {
        let later = Data(#"{"id":"a","queue":"images","outcome":"postponed"}"#.utf8)
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(Receipt.self, from: later) }
    }
}
