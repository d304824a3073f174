import Errand
import TestSupport
import Testing

/// Nothing depends on wake-ups; they only make things faster.
@Suite("Wake-ups", .timeLimit(.minutes(6)))
struct WakeUpTests {
    private let fixture = WorkerFixture()

    @Test("a wake-up for work makes a worker call at once")
    func looksAtOnce() async throws {
        // A worker of two queues gets no direct dispatch.
        let configuration = WorkerConfiguration(
            queues: [.init(WorkerFixture.queue), .init("other")],
            longestPoll: .seconds(3600)
        )
        try await fixture.open(fixture.worker([fixture.held.operation()], configuration)) { _ in
            // Its pauses are 1, 2, 4, … ms: the thirteenth call comes after 4 s, and the next one after another 4 s.
            try await eventually("it rests") { fixture.broker.calls[WorkerFixture.queue, default: 0] >= 13 }
            try await fixture.push("a")
            try await eventually("the job has begun", within: .seconds(3)) { fixture.held.begun.count == 1 }
        }
    }

    @Test("a wake-up for a stop causes a heartbeat at once")
    func beatsAtOnce() async throws {
        // A heartbeat every 7.5 s, the first one when the session begins.
        let configuration = WorkerConfiguration(lease: .seconds(600))
        try await fixture.open(fixture.worker([fixture.held.operation()], configuration)) { _ in
            try await fixture.push("a")
            try await fixture.begin()
            #expect(try await fixture.broker.memory.cancel(["a"], on: WorkerFixture.queue) == [.stopping])
            try await eventually("the handler is told to stop", within: .seconds(5)) { fixture.held.cancelled == ["a"] }
        }
    }
}
