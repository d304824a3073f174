import Dispatch
import Errand
import Synchronization
import TestSupport
import Testing

/// A handler that blocks while it is told to stop does not delay other jobs.
@Suite("Handlers that block the thread of a stop request", .timeLimit(.minutes(6)))
struct BlockingStopTests {
    /// Blocks threads until it is released.
    private final class Blockade: Sendable {
        private let semaphore = DispatchSemaphore(value: 0)
        private let count = Atomic(0)

        var isThere: Bool { count.load(ordering: .acquiring) > 0 }

        func block() {
            count.add(1, ordering: .releasing)
            semaphore.wait()
        }

        func lift() { for _ in 0..<16 { semaphore.signal() } }
    }

    private let fixture = WorkerFixture()
    private let blockade = Blockade()

    /// An operation whose handler blocks the thread on which it is told to stop.
    private func blocking(timeout: Duration = .seconds(600)) -> RegisteredOperation {
        RegisteredOperation("block", timeout: timeout) { [fixture, blockade] (job: JobContext) async throws -> Void in
            await withTaskCancellationHandler {
                await fixture.held.stay(job)
            } onCancel: {
                blockade.block()
            }
        }
    }

    @Test("another job times out on time meanwhile")
    func timerGoesOn() async throws {
        let other = fixture.held.operation("late", timeout: .milliseconds(50))
        try await fixture.open(fixture.worker([blocking(timeout: .milliseconds(50)), other])) { _ in
            defer { blockade.lift() }
            try await fixture.push("a", "block")
            try await eventually("a thread is blocked") { blockade.isThere }
            try await fixture.push("b", "late")
            try await eventually("the other job is told to stop", within: .seconds(20)) {
                fixture.held.begun.contains { $0.id == "b" && $0.isCancelled }
            }
        }
    }

    @Test("the session still sends heartbeats")
    func heartGoesOn() async throws {
        let configuration = WorkerConfiguration(lease: .seconds(2))
        try await fixture.open(fixture.worker([blocking()], configuration)) { _ in
            defer { blockade.lift() }
            try await fixture.push("a", "block")
            try await fixture.begin()
            // A heartbeat reports it to the worker.
            #expect(try await fixture.broker.memory.cancel(["a"], on: WorkerFixture.queue) == [.stopping])
            try await eventually("a thread is blocked") { blockade.isThere }
            let beats = fixture.broker.beats
            try await eventually("it beats", within: .seconds(20)) { fixture.broker.beats > beats + 1 }
        }
    }
}
