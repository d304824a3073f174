import Foundation
import Testing

@testable import Backgroundable

@Suite struct ContinuationTests {
    @Test func theContinuationFinishesTheOperation() {
        let kept = Box<OperationContinuation?>(nil)
        let begun = Signal()
        let operation = ContinuationOperation { continuation in
            kept.change { $0 = continuation }
            begun.fire()
        }
        let queue = BackgroundQueue()
        queue.addOperation(operation)
        #expect(begun.wait())
        #expect(!operation.isFinished && kept.now?.isOver == false)
        kept.now?(nil)
        operation.waitUntilFinished()
        #expect(operation.ending == .finished && !operation.failed && kept.now?.isOver == true)
        kept.now?(Mishap("late"))
        #expect(!operation.failed)
    }

    @Test func itTakesAnErrorInEitherSpelling() {
        let operations = [
            ContinuationOperation { continuation in continuation(Mishap("one")) },
            ContinuationOperation { continuation in continuation(error: Mishap("one")) },
            ContinuationOperation { throw Mishap("one") },
        ]
        OperationQueue().addOperations(operations, waitUntilFinished: true)
        for operation in operations { #expect(operation.errors.map { "\($0)" } == ["one"]) }
    }

    @Test func neverCallingItEndsInTheTimeout() {
        let operation = ContinuationOperation(timeout: 0.02) { _ in }
        OperationQueue().addOperations([operation], waitUntilFinished: true)
        #expect(operation.isTimedOut)
        #expect(ContinuationOperation { _ in }.timeout == 10)
    }

    @Test func aBlockFinishesWhenItReturns() {
        let hasRun = Box(false)
        let operation = ContinuationOperation(name: "block") { hasRun.change { $0 = true } }
        OperationQueue().addOperations([operation], waitUntilFinished: true)
        #expect(hasRun.now && operation.ending == .finished)
    }
}
