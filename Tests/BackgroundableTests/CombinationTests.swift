import Foundation
import Testing

@testable import Backgroundable

/// Combinations of features.
@Suite struct CombinationTests {
    @Test(arguments: [AsyncOperationEnding.finished, .cancelled, .timedOut])
    func theStartIsReportedBeforeTheEnd(ending: AsyncOperationEnding) {
        let notes = Notes()
        let operation = AsyncOperation(timeout: 0) { _ in }
        operation.addObserver(notes)
        // The thread that starts it has opened it and has got no further.
        _ = operation.state.claim()
        _ = operation.state.open()
        operation.end(ending)
        #expect(notes.finished.wait())
        #expect(notes.log.now.first == "attached" && notes.log.now.dropFirst().first == "started")
        #expect(notes.log.now.count == (ending == .finished ? 3 : 4))
    }

    @Test func aForgottenOperationLeavesItsCategory() {
        let category = MutuallyExclusive(category: "forgotten")
        for _ in 0..<2 {
            let forgotten = AsyncOperation { $0.finish() }
            forgotten.addCondition(category)
            // Checking its readiness enters it into the category.
            _ = forgotten.isReady
        }
        let operation = AsyncOperation { $0.finish() }
        operation.addCondition(category)
        OperationQueue().addOperation(operation)
        #expect(eventually { operation.isFinished })
        operation.cancel()
    }

    @Test func anOperationOutsideQueuesDoesNotRunOnTheTimersThread() {
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

    @Test func anOperationThatWaitsForSomethingElseGivesUpItsPosition() {
        let queue = BackgroundQueue()
        let category = MutuallyExclusive(category: "withdrawn")
        let first = AsyncOperation { $0.finish() }
        let waiting = AsyncOperation { $0.finish() }
        for operation in [first, waiting] { operation.addCondition(category) }
        // It gets its turn before it is in a queue, and then has to wait for the barrier, which waits for the other
        // operation.
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

    @Test func aCancelledOperationIsNotKeptByItsDependencies() {
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

    @Test(arguments: [true, false]) func neitherIsAnOperationOfAnotherKind(isBackgroundQueue: Bool) {
        let queue = isBackgroundQueue ? BackgroundQueue() : OperationQueue()
        let remembering = (0..<200).map { _ in AsyncOperation(timeout: 0) { _ in } }
        for first in remembering {
            let second = BlockOperation {}
            queue.addSequentialOperations([first, second], waitUntilFinished: false)
            second.cancel()
        }
        #expect(eventually { queue.operationCount == remembering.count })
        for first in remembering { first.finish() }
        queue.waitUntilAllOperationsAreFinished()
    }

    @Test func aCancelledOperationLeavesItsCategoryBeforeItsQueue() {
        let category = MutuallyExclusive(category: "suspended")
        let suspended = BackgroundQueue()
        suspended.isSuspended = true
        let (first, second) = (AsyncOperation { $0.finish() }, AsyncOperation { $0.finish() })
        for operation in [first, second] { operation.addCondition(category) }
        suspended.addOperation(first)
        OperationQueue().addOperation(second)
        first.cancel()
        let isFinished = eventually { second.isFinished }
        #expect(isFinished && !first.isFinished)
        suspended.isSuspended = false
        suspended.waitUntilAllOperationsAreFinished()
    }

    @Test(arguments: [true, false]) func aLostNotificationOfTheEndIsRepeated(cancels: Bool) {
        let held = Signal()
        let asked = Signal()
        let operation = Forgetful { $0.finish() }
        operation.addCondition(
            BlockCondition {
                asked.fire()
                return held.wait()
            }
        )
        let queue = OperationQueue()
        queue.addOperation(operation)
        #expect(asked.wait())
        operation.looksToForget.change { $0 = 3 }
        if cancels { operation.cancel() } else { operation.finish() }
        let isFinished = eventually { operation.isFinished }
        #expect(isFinished)
        held.fire()
    }

    @Test func partsOvertakeOnlyOperationsThatHaveNotBegun() {
        let lines = ExclusiveCategories()
        let group = GroupOperation()
        let part = AsyncOperation { _ in }
        part.attach().0.state.withLock { $0.parent = group }
        for hasBegun in [true, false] {
            let outer = CategoryTicket(["a"], for: AsyncOperation { _ in }) {}
            let inner = CategoryTicket(["a"], for: part) {}
            #expect(lines.getInLine(outer) == .first)
            if hasBegun { #expect(lines.begin(outer)) }
            #expect(lines.getInLine(inner) == (hasBegun ? .waits : .first))
            #expect(lines.begin(inner) != hasBegun && lines.begin(outer) == hasBegun)
            lines.leave(outer)
            #expect(lines.begin(inner))
            lines.leave(inner)
            #expect(lines.count == 0)
        }
    }

    @Test func anOvertakenOperationWaitsAlthoughItsQueueStartsIt() {
        let category = MutuallyExclusive(category: "overtaken")
        let suspended = BackgroundQueue()
        suspended.isSuspended = true
        let isPartInside = Box(false)
        let wasCrowded = Box(false)
        let (begun, held, after) = (Signal(), Signal(), Signal())
        let overtaken = AsyncOperation { own in
            wasCrowded.change { $0 = isPartInside.now }
            own.finish()
        }
        let part = AsyncOperation(timeout: 0) { own in
            isPartInside.change { $0 = true }
            begun.fire()
            _ = held.wait()
            isPartInside.change { $0 = false }
            own.finish()
        }
        for operation in [overtaken, part] { operation.addCondition(category) }
        suspended.addOperation(overtaken)
        let group = GroupOperation(operations: [part])
        OperationQueue().addOperation(group)
        #expect(begun.wait())
        suspended.isSuspended = false
        suspended.addOperation { after.fire() }
        #expect(after.wait())
        // That it has not run causes no event, so wait a little.
        Thread.sleep(forTimeInterval: 0.05)
        #expect(overtaken.ending == nil)
        held.fire()
        overtaken.waitUntilFinished()
        #expect(!wasCrowded.now && overtaken.ending == .finished)
    }

    @Test func cancellingAGroupLetsNoneOfItsWaitingPartsBegin() {
        for _ in 0..<20 {
            let begun = Signal()
            let running = AsyncOperation(timeout: 0) { _ in begun.fire() }
            let waiting = (0..<20).map { _ in AsyncOperation { $0.finish() } }
            for part in waiting { part.addDependency(running) }
            let group = GroupOperation(operations: [running] + waiting)
            OperationQueue().addOperation(group)
            #expect(begun.wait())
            group.cancel()
            for part in waiting { part.waitUntilFinished() }
            #expect(waiting.allSatisfy { $0.isCancelled })
        }
    }

    @Test func aPauseKeepsNothingAliveThatHasEnded() {
        weak var gone: RetryOperation?
        do {
            let failed = Signal()
            let retry = RetryOperation(attempts: 2, delay: .constant(3_600)) { _ in
                let attempt = AsyncOperation { $0.finish(with: Mishap("x")) }
                attempt.completionBlock = { failed.fire() }
                return attempt
            }
            gone = retry
            let queue = OperationQueue()
            queue.addOperation(retry)
            #expect(failed.wait())
            retry.cancel()
            queue.waitUntilAllOperationsAreFinished()
        }
        #expect(eventually { gone == nil })
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

/// A condition that first runs an operation.
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

/// An operation that at first still seems unfinished after its end. Unchecked for its superclass's reason.
private final class Forgetful: AsyncOperation, @unchecked Sendable {
    let looksToForget = Box(0)

    override var isReady: Bool {
        let isReady = super.isReady
        guard ending != nil, looksToForget.now > 0 else { return isReady }
        looksToForget.change { $0 -= 1 }
        return false
    }
}
