import Foundation
import Testing

@testable import Backgroundable

@Suite struct AsyncOperationTests {
    @Test func handsItselfToItsClosureAndStaysUntilItIsFinished() {
        let queue = BackgroundQueue()
        let received = Box<AsyncOperation?>(nil)
        let began = Signal()
        let operation = AsyncOperation { own in
            received.change { $0 = own }
            began.fire()
        }
        queue.addOperation(operation)
        #expect(began.wait())
        #expect(received.now === operation)
        #expect(operation.isExecuting && !operation.isFinished && operation.ending == nil)
        #expect(queue.operations.count == 1)
        inTheGlobalQueue { operation.finish() }
        operation.waitUntilFinished()
        queue.waitUntilAllOperationsAreFinished()
        #expect(!operation.isExecuting && operation.isFinished && operation.ending == .finished)
        #expect(!operation.isCancelled && !operation.isTimedOut)
        #expect(queue.operations.isEmpty)
    }

    @Test func hasTheDefaultsOfTheOriginal() {
        let operation = AsyncOperation { $0.finish() }
        #expect(operation.name == nil)
        #expect(operation.timeout == 10)
        #expect(operation.uniquenessPolicy == .ignore)
        #expect(AsyncOperationUniquenessPolicy.default == .ignore)
        #expect(operation.isAsynchronous)
    }

    @Test func runsWithoutAQueue() {
        let operation = AsyncOperation { $0.finish() }
        operation.start()
        #expect(operation.isFinished)
        operation.waitUntilFinished()
    }

    @Test func startingTwiceRunsItsClosureOnce() {
        let runs = Box(0)
        let operation = AsyncOperation { _ in runs.change { $0 += 1 } }
        operation.start()
        operation.start()
        operation.finish()
        operation.start()
        #expect(runs.now == 1)
    }

    @Test func timesOutLeavesTheQueueAndCallsBackOnTheBackgroundQueue() {
        let queue = BackgroundQueue()
        queue.maxConcurrentOperationCount = 1
        let called = Signal()
        let seen = Box<(AsyncOperation, Bool)?>(nil)
        let callback: @Sendable (AsyncOperation) -> Void = { operation in
            let isThere = OperationQueue.current === OperationQueue.background
            seen.change { $0 = (operation, isThere) }
            called.fire()
        }
        let begin = MonotonicTime.now
        let operation = queue.addAsyncOperation(timeout: 0.2, onTimeoutCallback: callback) { _ in }
        let next = queue.addAsyncOperation { $0.finish() }
        next.waitUntilFinished()
        let took = Double(MonotonicTime.now - begin) / 1e9
        #expect(took >= 0.2 && took < 9)
        #expect(operation.isFinished && operation.isTimedOut && operation.ending == .timedOut)
        #expect(!operation.isCancelled)
        #expect(called.wait())
        #expect(seen.now?.0 === operation)
        #expect(seen.now?.1 == true)
        #expect(!called.wait(seconds: 0.1))
    }

    @Test func theTimeoutRunsFromTheStart() {
        let busy = BusyQueue()
        let operation = busy.queue.addAsyncOperation(timeout: 600) { $0.finish() }
        #expect(operation.due == 0)
        let release = MonotonicTime.now
        busy.release()
        #expect(operation.due >= release + 600_000_000_000 && operation.ending == .finished)
    }

    @Test(arguments: [0, -1, .infinity, .nan, 1e300] as [TimeInterval])
    func aTimeoutThatIsNoSpanMeansForever(timeout: TimeInterval) {
        let operation = AsyncOperation(timeout: timeout) { _ in }
        operation.start()
        #expect(!operation.isFinished)
        #expect(operation.description.contains("no timeout"))
        operation.finish()
        #expect(operation.ending == .finished)
    }

    @Test func finishingTwiceAndAfterCancellingChangesNothing() {
        let operation = AsyncOperation { _ in }
        operation.start()
        operation.finish()
        operation.finish()
        operation.cancel()
        #expect(operation.ending == .finished && !operation.isCancelled)
        let cancelled = AsyncOperation { _ in }
        cancelled.start()
        cancelled.cancel()
        cancelled.finish()
        #expect(cancelled.ending == .cancelled && cancelled.isCancelled && cancelled.isFinished)
    }

    @Test(arguments: [false, true])
    func endingBeforeTheStartSkipsTheClosureAndLeavesTheQueue(cancels: Bool) {
        let runs = Box(0)
        let operation = AsyncOperation { own in
            runs.change { $0 += 1 }
            own.finish()
        }
        cancels ? operation.cancel() : operation.finish()
        #expect(operation.ending == (cancels ? .cancelled : .finished))
        let queue = BackgroundQueue()
        queue.addOperation(operation)
        queue.waitUntilAllOperationsAreFinished()
        #expect(operation.isFinished)
        #expect(runs.now == 0)
    }

    @Test(arguments: [false, true])
    func endingWhileWaitingSkipsTheClosureAndLeavesTheQueue(cancels: Bool) {
        let busy = BusyQueue()
        let runs = Box(0)
        let operation = busy.queue.addAsyncOperation { _ in runs.change { $0 += 1 } }
        cancels ? operation.cancel() : operation.finish()
        #expect(!operation.isFinished)
        busy.release()
        #expect(operation.isFinished)
        #expect(runs.now == 0)
    }

    @Test func cancellingWhileRunningFreesItsPlace() {
        let queue = BackgroundQueue()
        queue.maxConcurrentOperationCount = 1
        let began = Signal()
        let operation = queue.addAsyncOperation { _ in began.fire() }
        #expect(began.wait())
        let next = queue.addAsyncOperation { $0.finish() }
        operation.cancel()
        next.waitUntilFinished()
        #expect(operation.isFinished && operation.isCancelled)
    }

    @Test(arguments: AsyncOperationEnding.allCases)
    func theEndingIsReportedOnceOnTheDecidingThreadBeforeItIsVisible(ending: AsyncOperationEnding) {
        let seen = Box<[(AsyncOperationEnding, Bool, Bool)]>([])
        let isHere = Box(false)
        let operation = AsyncOperation(
            name: "owned",
            timeout: 0,
            onEnd: { own, ending in
                let entry = (ending, own.isFinished, isHere.now)
                seen.change { $0.append(entry) }
            },
            { _ in }
        )
        operation.start()
        isHere.change { $0 = true }
        switch ending {
        case .finished: operation.finish()
        case .cancelled: operation.cancel()
        case .timedOut: operation.timeOut(after: 0)
        }
        #expect(operation.isFinished)
        #expect(seen.now.count == 1)
        #expect(seen.now.first?.0 == ending)
        #expect(seen.now.first?.1 == false)
        #expect(seen.now.first?.2 == true)
        operation.finish()
        operation.cancel()
        #expect(seen.now.count == 1)
    }

    @Test func exactlyOneOfManyRacersWins() {
        for round in 0..<300 {
            let ends = Box<[AsyncOperationEnding]>([])
            let operation = AsyncOperation(
                name: nil,
                timeout: round.isMultiple(of: 3) ? 0.000_05 : 1,
                onEnd: { _, ending in ends.change { $0.append(ending) } },
                { _ in }
            )
            DispatchQueue.concurrentPerform(iterations: 4) { racer in
                switch racer {
                case 0: operation.start()
                case 1: operation.cancel()
                default: operation.finish()
                }
            }
            operation.waitUntilFinished()
            #expect(ends.now.count == 1)
            #expect(operation.ending == ends.now.first)
        }
    }

    @Test func itsDescriptionCanBeRead() {
        let operation = AsyncOperation(name: "thumbnail a.jpg", timeout: 2.5) { _ in }
        #expect(operation.description == "AsyncOperation \"thumbnail a.jpg\" (waiting, timeout 2.5 s)")
        operation.start()
        #expect("\(operation)" == "AsyncOperation \"thumbnail a.jpg\" (running, timeout 2.5 s)")
        operation.cancel()
        #expect(operation.description == "AsyncOperation \"thumbnail a.jpg\" (cancelled, timeout 2.5 s)")
        let early = AsyncOperation { _ in }
        early.cancel()
        #expect(early.description == "AsyncOperation (cancelled before it started, timeout 10 s)")
    }

    @Test func aClosureThatOutlivesItsOperationIsCounted() {
        let queue = BackgroundQueue()
        let begun = Signal()
        let held = Signal()
        let operation = queue.addAsyncOperation(timeout: 0) { _ in
            begun.fire()
            _ = held.wait()
        }
        #expect(begun.wait())
        operation.timeOut(after: 0)
        operation.waitUntilFinished()
        #expect(operation.isTimedOut && operation.isInClosure)
        #expect(queue.overrunCount == 1)
        #expect(operation.description.contains("timed out, its closure still runs"))
        held.fire()
        #expect(eventually { !operation.isInClosure && queue.overrunCount == 0 })
    }

    @Test func itLetsGoOfEverythingWhenItHasEnded() {
        final class Payload: Sendable {}
        weak var payload: Payload?
        weak var gone: AsyncOperation?
        do {
            let captured = Payload()
            payload = captured
            let operation = AsyncOperation(onTimeoutCallback: { _ in _ = captured }) { _ in _ = captured }
            gone = operation
            operation.start()
            operation.finish()
            #expect(operation.isFinished)
        }
        #expect(payload == nil)
        #expect(gone == nil)
    }
}
