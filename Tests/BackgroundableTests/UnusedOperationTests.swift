import Foundation
import Testing

@testable import Backgroundable

/// Waiting for operations that end before they are added to a queue.
@Suite struct UnusedOperationTests {
    private enum End: CaseIterable {
        case cancelled, failed, finished
    }

    private func end(_ operation: ResultOperation<Int>, by end: End) {
        switch end {
        case .cancelled: operation.cancel()
        case .failed: operation.cancel(with: Mishap("broken"))
        case .finished: operation.finish(returning: 3)
        }
    }

    /// The result of waiting for the operation in every way.
    private func outcomes(_ operation: ResultOperation<Int>) async -> [String] {
        var outcomes: [String] = []
        do { outcomes.append("\(try await operation.value)") } catch { outcomes.append("\(error)") }
        do { try await operation.succeeded() } catch { outcomes.append("\(error)") }
        do { try await operation.finished() } catch { outcomes.append("\(error)") }
        return outcomes
    }

    @Test(arguments: End.allCases) private func `one that has ended is not waited for`(end: End) async {
        let operation = ResultOperation<Int> { 1 }
        self.end(operation, by: end)
        #expect(await outcomes(operation) == expected(end))
    }

    @Test(arguments: End.allCases) private func `nor is one that ends while it is waited for`(end: End) async {
        for _ in 0..<100 {
            let operation = ResultOperation<Int> { 1 }
            async let waiting = outcomes(operation)
            await Task.yield()
            self.end(operation, by: end)
            #expect(await waiting == expected(end))
        }
    }

    private func expected(_ end: End) -> [String] {
        switch end {
        case .cancelled: ["CancellationError()", "CancellationError()"]
        case .failed: ["broken", "broken"]
        case .finished: ["3"]
        }
    }

    @Test func `one that waits in a queue of any kind is waited for until it has finished`() async throws {
        for queue in [BackgroundQueue(), OperationQueue()] {
            for _ in 0..<100 {
                let operation = ResultOperation<Int> { 1 }
                operation.addDependency(AsyncOperation {})
                queue.addOperation(operation)
                async let waiting: Void = operation.finished()
                operation.cancel()
                try await waiting
                #expect(operation.isFinished)
            }
        }
    }

    @Test func `a plain queue is not empty before a cancelled operation has left`() async throws {
        let queue = OperationQueue()
        queue.isSuspended = true
        let operation = AsyncOperation {}
        operation.cancel()
        queue.addOperation(operation)
        async let waiting: Void = queue.drained()
        await Task.yield()
        queue.isSuspended = false
        try await waiting
        #expect(operation.isFinished)
    }
}
