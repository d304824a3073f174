import Foundation
import Testing

@testable import Backgroundable

/// What goes well alone and might not together.
@Suite struct CombinationTests {
    @Test(arguments: [AsyncOperationEnding.finished, .cancelled, .timedOut])
    func startedIsToldBeforeTheEndHoweverCloseTheyCome(ending: AsyncOperationEnding) {
        let notes = Notes()
        let operation = AsyncOperation(timeout: 0) { _ in }
        operation.addObserver(notes)
        // The thread that starts it has opened it and not come any further.
        _ = operation.state.claim()
        _ = operation.state.open()
        operation.end(ending)
        #expect(notes.finished.wait())
        #expect(notes.log.now.first == "attached" && notes.log.now.dropFirst().first == "started")
        #expect(notes.log.now.count == (ending == .finished ? 3 : 4))
    }

    @Test func whoIsForgottenLeavesItsLine() {
        let category = MutuallyExclusive(category: "forgotten")
        for _ in 0..<2 {
            let forgotten = AsyncOperation { $0.finish() }
            forgotten.addCondition(category)
            // A look is enough to get in line.
            _ = forgotten.isReady
        }
        let operation = AsyncOperation { $0.finish() }
        operation.addCondition(category)
        OperationQueue().addOperation(operation)
        #expect(eventually { operation.isFinished })
        operation.cancel()
    }

    @Test func whoWaitedInNoQueueDoesNotRunOnTheTimersThread() {
        let held = Signal()
        let queue = OperationQueue()
        let timesOut = AsyncOperation(timeout: 0.05) { _ in }
        let slow = AsyncOperation { own in
            _ = held.wait()
            own.finish()
        }
        for operation in [timesOut, slow] { operation.addCondition(MutuallyExclusive(category: "timer's thread")) }
        queue.addOperation(timesOut)
        slow.start()
        let isExecuting = eventually { slow.isExecuting }
        #expect(isExecuting)
        let other = AsyncOperation(timeout: 0.02) { _ in }
        queue.addOperation(other)
        let isTimedOut = Signal()
        other.addFinishedBlock { _, _ in isTimedOut.fire() }
        #expect(isTimedOut.wait(seconds: 5))
        held.fire()
        slow.waitUntilFinished()
    }

    @Test(arguments: [true, false])
    func whatAConditionHasRunFirstDoesNotWaitForALaterBarrier(isInBackgroundQueue: Bool) {
        let queue = isInBackgroundQueue ? BackgroundQueue() : OperationQueue()
        let first = AsyncOperation(timeout: 0) { _ in }
        let operation = AsyncOperation { $0.finish() }
        operation.addDependency(first)
        operation.addCondition(Preceded { AsyncOperation { $0.finish() } })
        queue.addOperations([first, operation])
        queue.addBarrierBlock {}
        first.finish()
        let isFinished = eventually { operation.isFinished }
        #expect(isFinished)
        operation.cancel()
        queue.waitUntilAllOperationsAreFinished()
    }

    @Test func whoHasToWaitForSomethingElseGivesItsPlaceInLineUp() {
        let queue = BackgroundQueue()
        let category = MutuallyExclusive(category: "withdrawn")
        let first = AsyncOperation { $0.finish() }
        let waiting = AsyncOperation { $0.finish() }
        for operation in [first, waiting] { operation.addCondition(category) }
        // It has its turn before it is in a queue, and then has to wait for the barrier, which waits for the other.
        #expect(first.isReady)
        queue.addOperation(waiting)
        queue.addBarrierBlock {}
        queue.addOperation(first)
        let isFinished = eventually { first.isFinished && waiting.isFinished }
        #expect(isFinished)
        queue.cancelAllOperations()
        queue.waitUntilAllOperationsAreFinished()
    }

    @Test func whatAConditionHasRunFirstDoesNotWaitForTheGroup() {
        let part = AsyncOperation { $0.finish() }
        let category = MutuallyExclusive(category: "preceded")
        part.addCondition(
            Preceded {
                let first = AsyncOperation { $0.finish() }
                first.addCondition(category)
                return first
            }
        )
        let group = GroupOperation(operations: [part])
        group.addCondition(category)
        OperationQueue().addOperation(group)
        let isFinished = eventually { group.isFinished }
        #expect(isFinished)
        group.cancel()
    }

    @Test func whoIsCancelledAndLetGoIsNotRememberedByWhatItWaitedFor() {
        for isRemembering in [AsyncOperation(timeout: 0) { _ in }, AsyncOperation(timeout: 0) { _ in }] {
            let queue = BackgroundQueue()
            queue.addOperation(isRemembering)
            #expect(eventually { isRemembering.isExecuting })
            for _ in 0..<200 {
                let operation = AsyncOperation { $0.finish() }
                operation.addDependency(isRemembering)
                queue.addOperation(operation)
                operation.cancel()
                queue.addBarrierBlock {}
            }
            for operation in queue.operations where operation !== isRemembering { operation.cancel() }
            #expect(eventually { queue.operationCount == 1 })
            isRemembering.finish()
            queue.waitUntilAllOperationsAreFinished()
        }
    }

    @Test func delaysOfAnyNumbersAreNoTrap() {
        #expect((0...3_155_000_000).contains(DelayStrategy.random(in: 0...(.infinity)).delay(beforeRetry: 1)))
        #expect(DelayStrategy.random(in: -2...(-1)).delay(beforeRetry: 1) == 0)
        for strategy in [DelayStrategy.increasing(from: 1, by: 1), .exponential(), .exponential().jittered()] {
            for number in [Int.min, 0, .max] { #expect(strategy.delay(beforeRetry: number) >= 0) }
        }
    }

    @Test func aSerialQueueWithAGroupWhosePartsAreExclusive() {
        for _ in 0..<50 {
            let queue = BackgroundQueue()
            queue.maxConcurrentOperationCount = 1
            let category = MutuallyExclusive(category: "serial")
            let held = Signal()
            let first = BlockOperation { _ = held.wait() }
            let part = AsyncOperation { $0.finish() }
            part.addCondition(category)
            part.addDependency(first)
            let group = GroupOperation(operations: [first, part])
            let rival = AsyncOperation { $0.finish() }
            rival.addCondition(category)
            queue.addOperation(group)
            queue.addOperation(rival)
            held.fire()
            let isFinished = eventually { group.isFinished && rival.isFinished }
            #expect(isFinished)
            guard isFinished else { return group.cancel() }
        }
    }

    @Test func groupsThatHaveEachOthersPartsCategories() {
        for _ in 0..<50 {
            let queue = BackgroundQueue()
            let a = MutuallyExclusive(category: "crossed a")
            let b = MutuallyExclusive(category: "crossed b")
            let groups = [(a, b), (b, a)].map { (own, parts) in
                let part = AsyncOperation { $0.finish() }
                part.addCondition(parts)
                let group = GroupOperation(operations: [part])
                group.addCondition(own)
                return group
            }
            queue.addOperations(groups)
            let isFinished = eventually { groups.allSatisfy(\.isFinished) }
            #expect(isFinished)
            guard isFinished else { return groups.forEach { $0.cancel() } }
        }
    }
}

/// A condition that has an operation run before it holds.
private struct Preceded: OperationCondition {
    let make: @Sendable () -> Operation

    func dependency(for operation: AsyncOperation) -> Operation? {
        make()
    }

    func evaluate(
        for operation: AsyncOperation,
        completion: @escaping @Sendable (OperationConditionResult) -> Void
    ) {
        completion(.satisfied)
    }
}
