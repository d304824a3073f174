import Foundation
import Testing

@testable import Backgroundable

@Suite struct AwaitingTests {
    @Test func operationsOfAnyKindCanBeAwaited() async throws {
        let held = Signal()
        let operations: [Operation] = [
            AsyncOperation { own in
                inTheGlobalQueue {
                    _ = held.wait()
                    own.finish()
                }
            },
            BlockOperation { _ = held.wait() }, PlainOperation { _ = held.wait() },
        ]
        let queue = OperationQueue()
        queue.addOperations(operations)
        for _ in operations { held.fire() }
        for operation in operations {
            try await operation.finished()
            #expect(operation.isFinished)
            // Again, now that it has finished.
            try await operation.finished()
        }
    }

    @Test func successIsReturnedAndEverythingElseThrown() async throws {
        let good = AsyncOperation { $0.finish() }
        let bad = AsyncOperation { $0.finish(with: Mishap("bad")) }
        let late = AsyncOperation(timeout: 0.01) { _ in }
        let off = AsyncOperation { $0.cancel() }
        OperationQueue().addOperations([good, bad, late, off])
        try await good.succeeded()
        await #expect(throws: Mishap.self) { try await bad.succeeded() }
        await #expect(throws: OperationError.self) { try await late.succeeded() }
        await #expect(throws: CancellationError.self) { try await off.succeeded() }
    }

    @Test func drainingWaitsForWhatIsAddedMeanwhile() async throws {
        for queue in [BackgroundQueue(), OperationQueue()] {
            let count = Box(0)
            @Sendable func chain(_ left: Int) {
                queue.addAsyncOperation { own in
                    inTheGlobalQueue {
                        count.change { $0 += 1 }
                        if left > 0 { chain(left - 1) }
                        own.finish()
                    }
                }
            }
            chain(50)
            try await queue.drained()
            #expect(count.now == 51)
            try await queue.drained()
        }
    }

    @Test func cancellingTheWaitLeavesTheWorkAlone() async {
        let queue = BackgroundQueue()
        let operation = queue.addAsyncOperation(timeout: 0) { _ in }
        let waits = [
            Task { try await operation.finished() }, Task { try await queue.drained() },
            Task { try await operation.succeeded() },
        ]
        for wait in waits {
            wait.cancel()
            await #expect(throws: CancellationError.self) { try await wait.value }
        }
        #expect(!operation.isFinished)
        operation.finish()
    }
}
