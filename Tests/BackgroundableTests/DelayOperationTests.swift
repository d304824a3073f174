import Foundation
import Testing

@testable import Backgroundable

/// An operation that lasts a while.
@Suite struct DelayOperationTests {
    private let queue = BackgroundQueue()

    /// The seconds that an operation takes in an empty queue.
    private func time(_ operation: Operation) async throws -> TimeInterval {
        let start = MonotonicTime.now
        queue.addOperation(operation)
        try await operation.finished()
        return TimeInterval(MonotonicTime.now - start) / 1_000_000_000
    }

    @Test func `it lasts as long as it is to, or until the date`() async throws {
        #expect(try await time(DelayOperation(by: 0.05)) >= 0.05)
        #expect(try await time(DelayOperation(by: .milliseconds(50))) >= 0.05)
        #expect(try await time(DelayOperation(until: Date(timeIntervalSinceNow: 0.1))) >= 0.05)
    }

    @Test func `no time is none, and so is a date that has passed`() async throws {
        let operations = [
            DelayOperation(by: 0), DelayOperation(by: -1), DelayOperation(by: TimeInterval.nan),
            DelayOperation(until: .distantPast),
        ]
        for operation in operations {
            _ = try await time(operation)
            #expect(operation.ending == .finished)
        }
    }

    @Test func `it goes on for longer than other operations may, until it is cancelled`() async throws {
        for operation in [
            DelayOperation(by: .infinity), DelayOperation(until: .distantFuture), DelayOperation(by: 3600),
        ] {
            queue.addOperation(operation)
            #expect(await eventually { operation.isExecuting })
            #expect(operation.timeout == .infinity)
            operation.cancel()
            try await operation.finished()
            #expect(operation.isCancelled)
        }
        try await queue.drained()
    }

    @Test func `a delay that is called off leaves no deadline behind that keeps it alive`() async throws {
        weak var gone: DelayOperation?
        do {
            let operation = DelayOperation(by: 3600)
            gone = operation
            queue.addOperation(operation)
            #expect(await eventually { operation.isExecuting })
            operation.cancel()
        }
        try await queue.drained()
        #expect(await eventually { gone == nil })
    }

    @Test func `what comes after it waits for it`() async throws {
        let log = Box<[String]>([])
        let delay = DelayOperation(by: .milliseconds(20), name: "pause")
        delay.addFinishedBlock { _, _ in log.change { $0.append("pause") } }
        queue.addSequentialOperations(
            [delay, AsyncOperation { log.change { $0.append("after") } }],
            waitUntilFinished: false
        )
        try await queue.drained()
        #expect(log.now == ["pause", "after"])
    }
}
