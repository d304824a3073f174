import Foundation
import Testing

@testable import Backgroundable

@Suite struct TaskOperationTests {
    @Test func returningFinishesIt() async throws {
        let log = Box<[Int]>([])
        let queue = BackgroundQueue()
        queue.maxConcurrentOperationCount = 1
        for number in 0..<20 {
            queue.addOperation(
                AsyncOperation(timeout: 0) { _ in
                    await Task.yield()
                    log.change { $0.append(number) }
                }
            )
        }
        try await queue.drained()
        #expect(log.now == Array(0..<20))
    }

    @Test func itsErrorIsTheOperations() async throws {
        let operation = AsyncOperation(timeout: 0) { _ in
            await Task.yield()
            throw Mishap("broken")
        }
        OperationQueue().addOperation(operation)
        try await operation.finished()
        #expect(operation.errors.map { "\($0)" } == ["broken"] && operation.ending == .finished)
    }

    @Test func cancellingAndTimingOutCancelTheTask() async throws {
        for timesOut in [false, true] {
            let queue = BackgroundQueue()
            let begun = Signal()
            let sawIt = Signal()
            let held = Signal()
            let operation = AsyncOperation(timeout: timesOut ? 0.05 : 0) { _ in
                begun.fire()
                await withTaskCancellationHandler {
                    await PendingWait.never()
                } onCancel: {
                    sawIt.fire()
                }
                await PendingWait.until(held)
            }
            queue.addOperation(operation)
            await PendingWait.until(begun)
            if !timesOut { operation.cancel() }
            await PendingWait.until(sawIt)
            try await operation.finished()
            #expect(operation.ending == (timesOut ? .timedOut : .cancelled))
            #expect(queue.overrunCount == 1)
            held.fire()
            #expect(await eventually { queue.overrunCount == 0 })
        }
    }

    @Test func aTaskThatGivesUpCancelsItsOperation() async throws {
        let operation = AsyncOperation(timeout: 0) { _ in
            await Task.yield()
            throw CancellationError()
        }
        OperationQueue().addOperation(operation)
        try await operation.finished()
        #expect(operation.isCancelled && !operation.failed)
    }

    @Test func oneThatIsCancelledBeforeNeverBegins() async throws {
        let hasRun = Box(false)
        let operation = AsyncOperation(timeout: 0) { _ in
            await Task.yield()
            hasRun.change { $0 = true }
        }
        operation.cancel()
        let queue = BackgroundQueue()
        queue.addOperation(operation)
        try await queue.drained()
        #expect(!hasRun.now && operation.isFinished)
    }

    @Test func cancellingAtAnyMomentEndsTheTask() async throws {
        for _ in 0..<300 {
            let queue = BackgroundQueue()
            let operation = AsyncOperation(timeout: 0) { _ in try await Task.sleep(for: .seconds(60)) }
            queue.addOperation(operation)
            operation.cancel()
            try await queue.drained()
            #expect(await eventually { queue.overrunCount == 0 })
        }
    }

    @Test func aClosureWithoutAwaitIsAnOrdinaryOne() {
        let operation = AsyncOperation(timeout: 0.02) { _ in }
        OperationQueue().addOperations([operation], waitUntilFinished: true)
        // Asynchronous work would have finished it by returning.
        #expect(operation.isTimedOut)
    }
}

extension PendingWait {
    /// Waits until this task is cancelled.
    static func never() async {
        try? await wait { _ in }
    }

    /// Waits for a signal, also in a cancelled task.
    static func until(_ signal: Signal) async {
        await onItsOwnThread { _ = signal.wait() }
    }
}
