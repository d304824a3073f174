import Foundation
import Testing

@testable import Backgroundable

/// Wherever a length of time is expected, seconds and durations are taken.
@Suite struct TimeSpanTests {
    @Test func `an operation takes its timeout in seconds or as a duration`() {
        let seconds: TimeInterval = 1.5
        let duration = Duration.milliseconds(1500)
        let operations: [AsyncOperation] = [
            AsyncOperation(timeout: seconds), AsyncOperation(timeout: duration),
            AsyncOperation(timeout: seconds) { _ in }, AsyncOperation(timeout: duration) { _ in },
            AsyncOperation(timeout: seconds) {}, AsyncOperation(timeout: duration) {},
            AsyncOperation(timeout: seconds) { _ in await Task.yield() },
            AsyncOperation(timeout: duration) { _ in await Task.yield() },
            ContinuationOperation(timeout: seconds) { _ in }, ContinuationOperation(timeout: duration) { _ in },
            ContinuationOperation(timeout: seconds) {}, ContinuationOperation(timeout: duration) {},
            GroupOperation(timeout: seconds), GroupOperation(timeout: duration),
            RetryOperation(timeout: seconds) { _ in AsyncOperation() },
            RetryOperation(timeout: duration) { _ in AsyncOperation() },
            ResultOperation<Int>(timeout: seconds), ResultOperation<Int>(timeout: duration),
            ResultOperation(timeout: seconds) { 1 }, ResultOperation(timeout: duration) { 1 },
            TransformOperation(timeout: seconds) { (_: Int) in 1 },
            TransformOperation(timeout: duration) { (_: Int) in 1 },
        ]
        #expect(operations.allSatisfy { $0.timeout == 1.5 })
    }

    @Test(arguments: [true, false]) func `a timeout is written as before, or after a dot`(isLong: Bool) {
        #expect(AsyncOperation(timeout: 20) { _ in }.timeout == 20)
        let either = AsyncOperation(timeout: isLong ? 5 : .infinity) { _ in await Task.yield() }
        #expect(either.timeout == (isLong ? 5 : .infinity))
        #expect(AsyncOperation(timeout: .infinity) { _ in await Task.yield() }.timeout == .infinity)
        #expect(AsyncOperation(timeout: .seconds(0.5)) { _ in await Task.yield() }.timeout == 0.5)
        #expect(AsyncOperation(timeout: .microseconds(500)) { _ in }.timeout == 0.000_5)
        #expect(OperationQueue().addAsyncOperation(timeout: .nanoseconds(1)) { $0.finish() }.timeout == 0.000_000_001)
    }

    @Test func `an observer takes its timeout as a duration`() {
        for observer in [TimeoutObserver(by: .milliseconds(20)), TimeoutObserver(timeout: 0.02)] {
            let operation = AsyncOperation(timeout: 0) { _ in }
            operation.addObserver(observer)
            OperationQueue().addOperations([operation], waitUntilFinished: true)
            #expect(operation.isTimedOut)
        }
    }

    @Test func `strategies take their waits as durations`() {
        #expect(DelayStrategy.constant(.milliseconds(500)).delay(beforeRetry: 3) == 0.5)
        #expect(DelayStrategy.random(in: Duration.seconds(2)...Duration.seconds(2)).delay(beforeRetry: 1) == 2)
        let increasing = DelayStrategy.increasing(from: .seconds(1), by: 0.5, upTo: .milliseconds(1800))
        #expect((1...3).map { increasing.delay(beforeRetry: $0) } == [1, 1.5, 1.8])
        #expect(DelayStrategy.exponential(from: .milliseconds(250)).delay(beforeRetry: 3) == 1)
    }

    @Test func `allowances of tasks are taken in seconds, whatever they are`() {
        #expect(TaskAllowances(refresh: 1.5, processing: .seconds(3)).refresh == .milliseconds(1500))
        #expect(TaskAllowances(refresh: -TimeInterval.infinity).refresh == .zero)
        #expect(TaskAllowances(refresh: TimeInterval.nan).refresh == .zero)
        #expect(TaskAllowances(processing: .infinity).processing > .seconds(3_000_000_000))
    }

    @Test func `waiting for background tasks takes seconds`() async {
        #expect(await BackgroundTaskStage().tasks.waitForAll(within: 1))
    }
}
