import Foundation
import Testing

@testable import Backgroundable

/// Records the notifications of an operation.
final class Notes: OperationObserver {
    let log = Box<[String]>([])
    let finished = Signal()

    func didAttach(to operation: AsyncOperation) { log.change { $0.append("attached") } }
    func didStart(_ operation: AsyncOperation) { log.change { $0.append("started") } }
    func didCancel(_ operation: AsyncOperation) { log.change { $0.append("cancelled") } }
    func didTimeOut(_ operation: AsyncOperation) { log.change { $0.append("timed out") } }
    func didFinish(_ operation: AsyncOperation, errors: [any Error]) {
        log.change { $0.append("finished \(errors.map { "\($0)" })") }
        finished.fire()
    }
}

struct Mishap: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

@Suite struct ObserverTests {
    /// Each way in which an operation can end, and the notifications of it.
    enum Way: CaseIterable {
        case finish, error, cancel, cancelWithError, timeout, cancelBefore, finishBefore

        var expected: [String] {
            switch self {
            case .finish: ["started", "finished []"]
            case .error: ["started", "finished [\"oops\"]"]
            case .cancel: ["started", "cancelled", "finished []"]
            case .cancelWithError: ["started", "cancelled", "finished [\"oops\"]"]
            case .timeout: ["started", "timed out", "finished [\"timed out after 0.02 s\"]"]
            case .cancelBefore: ["cancelled", "finished []"]
            case .finishBefore: ["finished []"]
            }
        }

        func operation() -> AsyncOperation {
            let operation = AsyncOperation { own in
                switch self {
                case .finish: own.finish()
                case .error: own.finish(with: Mishap("oops"))
                case .cancel: own.cancel()
                case .cancelWithError: own.cancel(with: Mishap("oops"))
                case .timeout: own.timeOut(after: 0.02)
                case .cancelBefore, .finishBefore: break
                }
            }
            if self == .cancelBefore { operation.cancel() }
            if self == .finishBefore { operation.finish() }
            return operation
        }
    }

    @Test(arguments: Way.allCases)
    func everyObserverIsNotifiedOnceAndInOrder(way: Way) {
        let operation = way.operation()
        let notes = (0..<3).map { _ in Notes() }
        for note in notes { operation.addObserver(note) }
        BackgroundQueue().addOperation(operation)
        for note in notes { #expect(note.finished.wait()) }
        operation.waitUntilFinished()
        for note in notes { #expect(note.log.now == ["attached"] + way.expected) }
    }

    @Test(arguments: Way.allCases)
    func aLateObserverLearnsWhatHasHappened(way: Way) {
        let operation = way.operation()
        let early = Notes()
        if way != .finish { operation.addObserver(early) }
        OperationQueue().addOperation(operation)
        operation.waitUntilFinished()
        if way != .finish { #expect(early.finished.wait()) }
        let late = Notes()
        operation.addObserver(late)
        #expect(late.finished.wait())
        #expect(late.log.now == ["attached"] + way.expected)
    }

    @Test func observersAddedAtAnyMomentAreNotifiedOnce() {
        for round in 0..<300 {
            let queue = OperationQueue()
            let operation = AsyncOperation { own in
                inTheGlobalQueue { if round.isMultiple(of: 2) { own.finish() } else { own.cancel() } }
            }
            let notes = (0..<4).map { _ in Notes() }
            queue.addOperation(operation)
            DispatchQueue.concurrentPerform(iterations: 4) { operation.addObserver(notes[$0]) }
            let expected = ["attached", "started"] + (round.isMultiple(of: 2) ? [] : ["cancelled"]) + ["finished []"]
            for note in notes {
                #expect(note.finished.wait())
                #expect(note.log.now == expected)
            }
        }
    }

    /// Another thread has created the attachments when the end is already decided, and reports earlier events only
    /// after the end has been reported.
    @Test func theEndIsReportedLast() {
        let operation = AsyncOperation(name: nil, timeout: 60, onEnd: { own, _ in _ = own.attach() }) { $0.cancel() }
        OperationQueue().addOperation(operation)
        operation.waitUntilFinished()
        let note = Notes()
        operation.addObserver(note)
        #expect(note.finished.wait())
        #expect(note.log.now == ["attached", "started", "cancelled", "finished []"])
    }

    @Test func anOperationIsFinishedOnlyAfterItsObserversKnow() {
        for _ in 0..<100 {
            let isTold = Box(false)
            let operation = AsyncOperation { own in inTheGlobalQueue { own.finish() } }
            operation.addObserver(FinishedObserver { _, _ in isTold.change { $0 = true } })
            OperationQueue().addOperation(operation)
            operation.waitUntilFinished()
            #expect(isTold.now)
        }
    }

    @Test func aSlowObserverDelaysNoDeadline() {
        let held = Signal()
        let slow = AsyncOperation(timeout: 0.02) { _ in }
        slow.addObserver(TimedOutObserver { _ in _ = held.wait() })
        let queue = BackgroundQueue()
        queue.addOperation(slow)
        slow.waitUntilFinished()
        let other = queue.addAsyncOperation(timeout: 0.02) { _ in }
        other.waitUntilFinished()
        #expect(other.isTimedOut)
        held.fire()
    }

    @Test func anObserverMayEndItsOperationBeforeTheClosureRuns() {
        let queue = BackgroundQueue()
        let hasRun = Box(false)
        let operation = AsyncOperation { _ in hasRun.change { $0 = true } }
        operation.addObserver(StartedObserver { $0.cancel() })
        queue.addOperations([operation], waitUntilFinished: true)
        #expect(eventually { queue.overrunCount == 0 && !operation.isInClosure })
        #expect(!hasRun.now && operation.isCancelled)
    }

    @Test func eachKindOfObserverIsNotifiedOfItsEvent() {
        let log = Box<[String]>([])
        let done = Signal()
        let blocks = BlockObserver(
            startHandler: { _ in log.change { $0.append("start") } },
            cancelHandler: { _ in log.change { $0.append("cancel") } },
            timeoutHandler: { _ in log.change { $0.append("timeout") } },
            finishHandler: { _, errors in
                log.change { $0.append("finish \(errors.count)") }
                done.fire()
            }
        )
        for way in [Way.error, .cancel, .timeout] {
            let operation = way.operation()
            operation.addObserver(StartedObserver { _ in log.change { $0.append("S") } })
            operation.addObserver(CancelledObserver { _ in log.change { $0.append("C") } })
            operation.addObserver(TimedOutObserver { _ in log.change { $0.append("T") } })
            operation.addFinishedBlock { _, _ in log.change { $0.append("F") } }
            operation.addObserver(blocks)
            OperationQueue().addOperation(operation)
            #expect(done.wait())
        }
        let error = ["S", "start", "F", "finish 1"]
        let cancel = ["S", "start", "C", "cancel", "F", "finish 0"]
        let timeout = ["S", "start", "T", "timeout", "F", "finish 1"]
        #expect(log.now == error + cancel + timeout)
    }

    @Test func aTimeoutObserverSetsATimeout() {
        let observers = [
            TimeoutObserver(by: 0.02), TimeoutObserver(timeout: 0.02), TimeoutObserver(until: .distantPast),
        ]
        for observer in observers {
            let operation = AsyncOperation(timeout: 0) { _ in }
            operation.addObserver(observer)
            OperationQueue().addOperation(operation)
            operation.waitUntilFinished()
            #expect(operation.isTimedOut && operation.failed)
        }
        let late = AsyncOperation(timeout: 0) { _ in }
        OperationQueue().addOperation(late)
        late.addObserver(TimeoutObserver(by: 0.02))
        late.waitUntilFinished()
        #expect(late.isTimedOut)
        let prompt = AsyncOperation { $0.finish() }
        prompt.addObserver(TimeoutObserver(by: .infinity))
        OperationQueue().addOperations([prompt], waitUntilFinished: true)
        #expect(prompt.ending == .finished)
    }

    @Test func whatIsAttachedIsLetGo() {
        weak var gone: Notes?
        weak var operationGone: AsyncOperation?
        do {
            let notes = Notes()
            gone = notes
            let operation = AsyncOperation { $0.finish() }
            operationGone = operation
            operation.addObserver(notes)
            operation.addObserver(FinishedObserver { [operation] _, _ in _ = operation })
            OperationQueue().addOperations([operation], waitUntilFinished: true)
        }
        #expect(eventually { gone == nil && operationGone == nil })
    }
}
