import Errand
import TestSupport
import Testing

/// Nothing depends on hints, and everything is faster for them.
@Suite("Hints", .timeLimit(.minutes(6)))
struct WakeUpTests {
    private let shop = Workshop()

    @Test("one of work makes a worker look at once that would not look for seconds")
    func looksAtOnce() async throws {
        // To a worker of two queues no job is handed over.
        let configuration = WorkerConfiguration(
            queues: [.init(Workshop.queue), .init("other")],
            longestPoll: .seconds(3600)
        )
        try await shop.open(shop.worker([shop.held.operation()], configuration)) { _ in
            // Its pauses are 1, 2, 4, … ms: the thirteenth look comes after 4 s, and the next one after another 4 s.
            try await eventually("it rests") { shop.broker.calls[Workshop.queue, default: 0] >= 13 }
            try await shop.push("a")
            try await eventually("the job has begun", within: .seconds(3)) { shop.held.begun.count == 1 }
        }
    }

    @Test("one of a stop makes a heart beat at once that would not beat for seconds")
    func beatsAtOnce() async throws {
        // A beat every 7.5 s, the first one when the session begins.
        let configuration = WorkerConfiguration(lease: .seconds(600))
        try await shop.open(shop.worker([shop.held.operation()], configuration)) { _ in
            try await shop.push("a")
            try await shop.begin()
            #expect(try await shop.broker.memory.cancel(["a"], on: Workshop.queue) == [.stopping])
            try await eventually("the handler is told to stop", within: .seconds(5)) { shop.held.cancelled == ["a"] }
        }
    }
}
