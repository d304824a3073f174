import Foundation
import Testing

@testable import Backgroundable

/// Operations that conditions run first: their time limits, and sharing by several conditions.
@Suite struct ConditionDependencyTests {
    /// Holds when its dependency has run.
    private struct After: OperationCondition {
        let name: String
        let first: Operation

        func dependency(for operation: AsyncOperation) -> Operation? { first }

        func evaluate(
            for operation: AsyncOperation,
            completion: @escaping @Sendable (OperationConditionResult) -> Void
        ) { completion(.satisfied) }
    }

    private func operation(_ firsts: [Operation], timeout: TimeInterval = 0) -> AsyncOperation {
        let operation = AsyncOperation(timeout: timeout) { $0.finish() }
        for (number, first) in firsts.enumerated() { operation.addCondition(After(name: "c\(number)", first: first)) }
        return operation
    }

    @Test(arguments: [false, true]) func oneThatHangsEndsInTheTimeoutOfTheOperation(isPlain: Bool) {
        for queue in [OperationQueue(), BackgroundQueue()] {
            let held = Signal()
            let begun = Signal()
            let first: Operation =
                isPlain
                ? PlainOperation {
                    begun.fire()
                    _ = held.wait()
                } : AsyncOperation(timeout: 0) { _ in begun.fire() }
            let operation = operation([first], timeout: 0.2)
            queue.addOperation(operation)
            #expect(begun.wait())
            #expect(eventually { operation.isFinished })
            #expect(operation.errors.map { "\($0)" } == ["the condition c0 did not decide within 0.2 s"])
            #expect(operation.isCancelled && first.isCancelled)
            held.fire()
            first.waitUntilFinished()
        }
    }

    @Test func whatItWaitsForDoesNotCount() {
        let busy = BusyQueue()
        let first = AsyncOperation(timeout: 0) { $0.finish() }
        let operation = operation([first], timeout: 0.2)
        busy.queue.addOperation(operation)
        // Twice as long as the timeout.
        let later = DelayOperation(by: 0.4)
        OperationQueue().addOperations([later], waitUntilFinished: true)
        #expect(operation.ending == nil)
        operation.cancel()
        busy.release()
        #expect(first.isCancelled)
    }

    @Test func itMayTakeItsTimeIfTheOperationHasNoTimeout() {
        let begun = Signal()
        let first = AsyncOperation(timeout: 0) { _ in begun.fire() }
        let operation = operation([first])
        BackgroundQueue().addOperation(operation)
        #expect(begun.wait())
        #expect(operation.ending == nil)
        first.finish()
        operation.waitUntilFinished()
        #expect(operation.ending == .finished)
    }

    @Test(arguments: [false, true]) func oneOfSeveralConditionsRunsOnce(isPlain: Bool) {
        let runs = Box(0)
        for queue in [OperationQueue(), BackgroundQueue()] {
            let first: Operation =
                isPlain
                ? PlainOperation { runs.change { $0 += 1 } }
                : AsyncOperation {
                    runs.change { $0 += 1 }
                    $0.finish()
                }
            let operations = (0..<50).map { _ in operation([first, first]) }
            queue.addOperations(operations, waitUntilFinished: false)
            for operation in operations { operation.waitUntilFinished() }
            // Again, now that it has finished.
            let late = operation([first])
            queue.addOperations([late], waitUntilFinished: true)
            #expect((operations + [late]).allSatisfy { $0.ending == .finished })
        }
        #expect(runs.now == 2)
    }

    @Test func oneIsCancelledWhenTheLastConditionDoesNotNeedItAnyMore() {
        let begun = Signal()
        let first = AsyncOperation(timeout: 0) { _ in begun.fire() }
        let (one, other) = (operation([first, first]), operation([first]))
        let queue = BackgroundQueue()
        queue.addOperation(one)
        #expect(begun.wait())
        let asked = Signal()
        other.addCondition(
            BlockCondition {
                asked.fire()
                return true
            }
        )
        queue.addOperation(other)
        #expect(asked.wait())
        #expect(eventually { ConditionDependencies.shared.count(of: first) == 3 })
        one.cancel()
        one.waitUntilFinished()
        #expect(first.ending == nil)
        other.cancel()
        other.waitUntilFinished()
        first.waitUntilFinished()
        #expect(first.isCancelled)
        #expect(eventually { ConditionDependencies.shared.count(of: first) == 0 })
    }

    @Test func sharingAndCancellingAtAnyMomentLeavesNothing() {
        let queue = BackgroundQueue()
        for round in 0..<300 {
            let first = AsyncOperation(timeout: 0) { own in if round.isMultiple(of: 2) { own.finish() } }
            let operations = (0..<3).map { _ in operation([first, first]) }
            queue.addOperations(operations)
            for operation in operations { inTheGlobalQueue { operation.cancel() } }
        }
        #expect(eventually { queue.operationCount == 0 })
    }
}
