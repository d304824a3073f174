import Dispatch
import Errand
import Synchronization
import TestSupport
import Testing

/// What handlers do when they are told to stop is theirs, and holds up nobody else.
@Suite("Handlers that block who tells them to stop", .timeLimit(.minutes(6)))
struct BlockingStopTests {
    /// Blocks threads until it is lifted.
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

    private let shop = Workshop()
    private let blockade = Blockade()

    /// An operation whose handler blocks the thread on which it is told to stop.
    private func blocking(timeout: Duration = .seconds(600)) -> RegisteredOperation {
        RegisteredOperation("block", timeout: timeout) { [shop, blockade] (job: JobContext) async throws -> Void in
            await withTaskCancellationHandler {
                await shop.held.stay(job)
            } onCancel: {
                blockade.block()
            }
        }
    }

    @Test("the time of another job is over when it is over")
    func timerGoesOn() async throws {
        let other = shop.held.operation("late", timeout: .milliseconds(50))
        try await shop.open(shop.worker([blocking(timeout: .milliseconds(50)), other])) { _ in
            defer { blockade.lift() }
            try await shop.push("a", "block")
            try await eventually("a thread is blocked") { blockade.isThere }
            try await shop.push("b", "late")
            try await eventually("the other job is told to stop", within: .seconds(20)) {
                shop.held.begun.contains { $0.id == "b" && $0.isCancelled }
            }
        }
    }

    @Test("the heart of the session goes on beating")
    func heartGoesOn() async throws {
        let configuration = WorkerConfiguration(lease: .seconds(2))
        try await shop.open(shop.worker([blocking()], configuration)) { _ in
            defer { blockade.lift() }
            try await shop.push("a", "block")
            try await shop.begin()
            // A beat tells the worker of it.
            #expect(try await shop.broker.memory.cancel(["a"], on: Workshop.queue) == [.stopping])
            try await eventually("a thread is blocked") { blockade.isThere }
            let beats = shop.broker.beats
            try await eventually("it beats", within: .seconds(20)) { shop.broker.beats > beats + 1 }
        }
    }
}
