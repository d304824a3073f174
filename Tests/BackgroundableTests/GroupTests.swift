import Foundation
import Testing

@testable import Backgroundable

@Suite struct GroupTests {
    @Test func aGroupIsFinishedWhenAllOfItsPartsAre() {
        for queue in [OperationQueue(), BackgroundQueue()] {
            queue.maxConcurrentOperationCount = 1
            let log = Box<[Int]>([])
            let slow = AsyncOperation { own in
                inTheGlobalQueue {
                    log.change { $0.append(1) }
                    own.finish()
                }
            }
            let plain = PlainOperation { log.change { $0.append(2) } }
            let block = BlockOperation { log.change { $0.append(3) } }
            plain.addDependency(slow)
            block.addDependency(plain)
            let group = GroupOperation(operations: block, plain)
            group.addOperation(slow)
            let after = PlainOperation { log.change { $0.append(4) } }
            after.addDependency(group)
            queue.addOperations([after, group], waitUntilFinished: true)
            #expect(log.now == [1, 2, 3, 4])
            #expect([slow, plain, block].allSatisfy(\.isFinished) && !group.failed)
        }
    }

    @Test func anEmptyGroupFinishesAtOnce() {
        let group = GroupOperation()
        OperationQueue().addOperations([group], waitUntilFinished: true)
        #expect(group.ending == .finished && group.timeout == .infinity)
    }

    @Test func itsErrorsAreThoseOfItsParts() {
        let parts = [
            AsyncOperation { $0.finish(with: Mishap("a")) }, AsyncOperation { $0.finish() },
            AsyncOperation(timeout: 0.01) { _ in },
        ]
        let group = GroupOperation(operations: parts)
        group.maxConcurrentOperationCount = 1
        #expect(group.maxConcurrentOperationCount == 1)
        OperationQueue().addOperations([group], waitUntilFinished: true)
        #expect(group.errors.map { "\($0)" } == ["a", "timed out after 0.01 s"])
    }

    @Test func partsMayAddParts() {
        let count = Box(0)
        let group = GroupOperation()
        @Sendable func part(_ left: Int) -> AsyncOperation {
            AsyncOperation { own in
                inTheGlobalQueue {
                    count.change { $0 += 1 }
                    if left > 0 { group.addOperation(part(left - 1)) }
                    own.finish()
                }
            }
        }
        group.addOperation(part(30))
        OperationQueue().addOperations([group], waitUntilFinished: true)
        #expect(count.now == 31)
    }

    @Test func cancellingAGroupOrItsTimeoutCancelsItsParts() {
        for timesOut in [true, false] {
            let begun = Signal()
            let running = AsyncOperation(timeout: 0) { _ in begun.fire() }
            let waiting = (0..<20).map { _ in AsyncOperation { $0.finish() } }
            for operation in waiting { operation.addDependency(running) }
            let group = GroupOperation(timeout: timesOut ? 0.05 : 0, operations: [running] + waiting)
            OperationQueue().addOperation(group)
            #expect(begun.wait())
            if !timesOut { group.cancel() }
            for operation in [running] + waiting {
                operation.waitUntilFinished()
                #expect(operation.isCancelled)
            }
            group.waitUntilFinished()
            #expect(group.ending == (timesOut ? .timedOut : .cancelled))
        }
    }

    @Test func partsOfAGroupThatNeverStartedAreNotLeftHanging() {
        let parts = [AsyncOperation { $0.finish() }, PlainOperation()]
        let group = GroupOperation(operations: parts)
        let after = PlainOperation()
        for part in parts { after.addDependency(part) }
        let queue = OperationQueue()
        queue.addOperation(after)
        group.cancel()
        after.waitUntilFinished()
        #expect(parts.allSatisfy { $0.isCancelled && $0.isFinished })
        queue.addOperations([group], waitUntilFinished: true)
        let late = AsyncOperation { $0.finish() }
        group.addOperation(late)
        #expect(late.isFinished && late.errors.map { "\($0)" } == ["its group had ended before it could start"])
    }

    @Test func aSubclassMaySayWhichErrorsCount() {
        // Unchecked for the reason of its superclass.
        final class Lenient: GroupOperation, @unchecked Sendable {
            override func partDidFinish(_ operation: Operation, errors: [any Error]) -> [any Error] {
                errors.filter { "\($0)" != "minor" }
            }
        }
        let group = Lenient(
            operations: [
                AsyncOperation { $0.finish(with: Mishap("minor")) },
                AsyncOperation { $0.finish(with: Mishap("major")) },
            ]
        )
        OperationQueue().addOperations([group], waitUntilFinished: true)
        #expect(group.errors.map { "\($0)" } == ["major"])
    }

    @Test func cancellingAtAnyMomentLeavesNoPartBehind() {
        for round in 0..<200 {
            let parts = (0..<5).map { _ in AsyncOperation { own in inTheGlobalQueue { own.finish() } } }
            let group = GroupOperation(operations: parts)
            let queue = OperationQueue()
            queue.addOperation(group)
            if round.isMultiple(of: 2) { Thread.sleep(forTimeInterval: Double(round) * 1e-6) }
            group.cancel()
            for part in parts { part.waitUntilFinished() }
            group.waitUntilFinished()
        }
    }
}

@Suite struct RetryTests {
    @Test func itTriesUntilItSucceeds() {
        let attempts = Box<[Int]>([])
        let retry = RetryOperation(attempts: 5, delay: .constant(0.001)) { attempt in
            AsyncOperation { own in
                attempts.change { $0.append(attempt) }
                own.finish(with: attempt < 3 ? Mishap("no") : nil)
            }
        }
        OperationQueue().addOperations([retry], waitUntilFinished: true)
        #expect(attempts.now == [1, 2, 3] && retry.attemptsMade == 3)
        #expect(!retry.failed && retry.ending == .finished)
    }

    @Test func theLastErrorsAreItsErrors() {
        let retry = RetryOperation(attempts: 3, delay: .immediate) { attempt in
            ContinuationOperation { continuation in continuation(Mishap("attempt \(attempt)")) }
        }
        OperationQueue().addOperations([retry], waitUntilFinished: true)
        #expect(retry.errors.map { "\($0)" } == ["attempt 3"])
    }

    @Test func timeoutsAreRepeatedAndCancellationIsNot() {
        let late = RetryOperation(attempts: 2, delay: .immediate) { _ in AsyncOperation(timeout: 0.01) { _ in } }
        let off = RetryOperation(attempts: 5, delay: .immediate) { _ in AsyncOperation { $0.cancel() } }
        OperationQueue().addOperations([late, off], waitUntilFinished: true)
        #expect(late.attemptsMade == 2 && late.failed)
        #expect(off.attemptsMade == 1 && !off.failed && off.ending == .cancelled)
    }

    @Test func itAsksWhetherToGoOn() {
        let asked = Box<[String]>([])
        let retry = RetryOperation(
            attempts: 10,
            delay: .increasing(from: 0.001, by: 0.001),
            shouldRetry: { failure in
                asked.change { $0.append("\(failure.attempt) \(failure.errors) \(failure.delay)") }
                return failure.attempt < 2
            },
            { _ in AsyncOperation { $0.finish(with: Mishap("x")) } }
        )
        OperationQueue().addOperations([retry], waitUntilFinished: true)
        #expect(asked.now == ["1 [x] 0.001", "2 [x] 0.002"])
        #expect(retry.failed)
    }

    @Test func cancellingItEndsThePause() {
        let failed = Signal()
        let retry = RetryOperation(attempts: 2, delay: .constant(3_600)) { _ in
            AsyncOperation { own in
                own.finish(with: Mishap("x"))
                failed.fire()
            }
        }
        let queue = OperationQueue()
        queue.addOperation(retry)
        #expect(failed.wait())
        retry.cancel()
        queue.waitUntilAllOperationsAreFinished()
        #expect(retry.isCancelled && retry.attemptsMade == 1)
    }

    @Test func delaysGrowAsTheySay() {
        func delays(_ strategy: DelayStrategy) -> [TimeInterval] {
            [1, 2, 3, 50].map { strategy.delay(beforeRetry: $0) }
        }
        #expect(delays(.immediate) == [0, 0, 0, 0])
        #expect(delays(.constant(2)) == [2, 2, 2, 2])
        #expect(delays(.increasing(from: 1, by: 0.5, upTo: 10)) == [1, 1.5, 2, 10])
        #expect(delays(.exponential(from: 0.5, upTo: 60)) == [0.5, 1, 2, 60])
        #expect(delays(DelayStrategy { _ in .nan }) == [0, 0, 0, 0])
        #expect(
            zip(delays(DelayStrategy.constant(8).jittered()), delays(.constant(8))).allSatisfy { $0 <= $1 && $0 >= 0 }
        )
        #expect(delays(.random(in: 1...2)).allSatisfy { (1...2).contains($0) })
    }
}
