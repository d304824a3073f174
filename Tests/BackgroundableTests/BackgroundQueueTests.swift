import Foundation
import Testing

@testable import Backgroundable

@Suite struct BackgroundQueueTests {
    /// Each way of adding work to a queue.
    enum Way: CaseIterable {
        case operation, operations, block, barrier, asyncOperation, sequence, plain, plainAsynchronous

        func add(to queue: BackgroundQueue, _ body: @escaping @Sendable () -> Void) {
            switch self {
            case .operation: queue.addOperation(BlockOperation(block: body))
            case .operations: queue.addOperations([BlockOperation(block: body)], waitUntilFinished: false)
            case .block: queue.addOperation(body)
            case .barrier: queue.addBarrierBlock(body)
            case .asyncOperation:
                queue.addAsyncOperation {
                    body(); $0.finish()
                }
            case .sequence: queue.addSequentialOperations([PlainOperation(body)], waitUntilFinished: false)
            case .plain: queue.addOperation(PlainOperation(name: "plain", body))
            case .plainAsynchronous:
                queue.addAsyncOperation { own in
                    inTheGlobalQueue {
                        body(); own.finish()
                    }
                }
            }
        }
    }

    @Test(arguments: Way.allCases)
    func notifiesItsDelegateOnceWhenBusyAndOnceWhenEmpty(way: Way) {
        let queue = BackgroundQueue()
        let listener = Listener()
        queue.delegate = listener
        let held = Signal()
        let order = Box<[String]>([])
        way.add(to: queue) {
            order.change { $0 = listener.log.now }
            _ = held.wait()
        }
        way.add(to: queue) {}
        #expect(!listener.emptied.wait(seconds: 0.05))
        held.fire()
        #expect(listener.emptied.wait())
        #expect(order.now == ["start"])
        #expect(listener.log.now == ["start", "finish"])
        queue.waitUntilAllOperationsAreFinished()
        way.add(to: queue) {}
        #expect(listener.emptied.wait())
        #expect(listener.log.now == ["start", "finish", "start", "finish"])
        withExtendedLifetime(listener) {}
    }

    @Test func theDelegateIsWeakAndMayUseTheQueue() {
        final class Refiller: BackgroundQueueDelegate {
            let rounds = Box(0)
            let done = Signal()

            func backgroundQueueWillStartOperations(_ queue: BackgroundQueue) {}

            func backgroundQueueDidFinishOperations(_ queue: BackgroundQueue) {
                rounds.change { $0 += 1 }
                guard rounds.now < 3 else { return done.fire() }
                queue.addOperations([PlainOperation()], waitUntilFinished: true)
            }
        }
        let queue = BackgroundQueue()
        do {
            let refiller = Refiller()
            queue.delegate = refiller
            queue.addOperation {}
            #expect(refiller.done.wait())
            #expect(queue.delegate === refiller)
        }
        // The thread of the last notification may still hold it for a moment.
        let patience = MonotonicTime.now + 20_000_000_000
        while queue.delegate != nil, MonotonicTime.now < patience { Thread.sleep(forTimeInterval: 0.001) }
        #expect(queue.delegate == nil)
    }

    @Test func aTimeoutEmptiesTheQueueAndABlockingDelegateDoesNotHoldUpOtherDeadlines() {
        final class Blocker: BackgroundQueueDelegate {
            let held = Signal()
            let entered = Signal()

            func backgroundQueueWillStartOperations(_ queue: BackgroundQueue) {}

            func backgroundQueueDidFinishOperations(_ queue: BackgroundQueue) {
                entered.fire()
                _ = held.wait()
            }
        }
        let queue = BackgroundQueue()
        let blocker = Blocker()
        queue.delegate = blocker
        queue.addAsyncOperation(timeout: 0.02) { _ in }
        #expect(blocker.entered.wait())
        let other = AsyncOperation(timeout: 0.02) { _ in }
        other.start()
        other.waitUntilFinished()
        #expect(other.isTimedOut)
        blocker.held.fire()
    }

    @Test func suspendingCounts() {
        let queue = BackgroundQueue()
        queue.isSuspended = true
        queue.isSuspended = true
        let operation = queue.addAsyncOperation { $0.finish() }
        queue.isSuspended = false
        #expect(queue.isSuspended)
        Thread.sleep(forTimeInterval: 0.05)
        #expect(!operation.isFinished)
        queue.isSuspended = false
        #expect(!queue.isSuspended)
        operation.waitUntilFinished()
        queue.isSuspended = false
        queue.isSuspended = true
        #expect(queue.isSuspended)
        queue.isSuspended = false
    }

    @Test func aBarrierWaitsForEverythingBeforeAndEverythingLaterWaitsForIt() {
        let queue = BackgroundQueue()
        let log = Box<[String]>([])
        let held = Signal()
        queue.addOperation {
            _ = held.wait()
            log.change { $0.append("before") }
        }
        queue.addAsyncOperation { own in
            inTheGlobalQueue {
                _ = held.wait()
                log.change { $0.append("before") }
                own.finish()
            }
        }
        queue.addBarrierBlock { log.change { $0.append("barrier") } }
        queue.addBarrierBlock { log.change { $0.append("barrier") } }
        queue.addOperation { log.change { $0.append("after") } }
        queue.addAsyncOperation { own in
            log.change { $0.append("after") }
            own.finish()
        }
        held.fire()
        held.fire()
        queue.waitUntilAllOperationsAreFinished()
        #expect(log.now == ["before", "before", "barrier", "barrier", "after", "after"])
    }

    @Test func sequentialOperationsOfAnyKindRunOneAfterTheOther() {
        for queue in [OperationQueue(), BackgroundQueue(), OperationQueue.background] {
            let log = Box<[Int]>([])
            let slow = AsyncOperation { own in
                inTheGlobalQueue {
                    Thread.sleep(forTimeInterval: 0.05)
                    log.change { $0.append(1) }
                    own.finish()
                }
            }
            let block = BlockOperation { log.change { $0.append(2) } }
            let plain = PlainOperation { log.change { $0.append(3) } }
            queue.addSequentialOperations([slow, block, plain], waitUntilFinished: true)
            #expect(log.now == [1, 2, 3])
            queue.addSequentialOperations([], waitUntilFinished: true)
        }
    }

    @Test func aSequenceGoesOnAfterOneThatIsCancelledTimesOutOrIsDropped() {
        let busy = BusyQueue()
        busy.queue.maxConcurrentOperationCount = 4
        let there = busy.queue.addAsyncOperation(name: "there", timeout: 0) { _ in }
        let log = Box<[Int]>([])
        let held = Signal()
        let first = AsyncOperation(timeout: 0) { own in
            inTheGlobalQueue {
                _ = held.wait()
                log.change { $0.append(1) }
                own.finish()
            }
        }
        let cancelled = PlainOperation { log.change { $0.append(-1) } }
        let timedOut = AsyncOperation(timeout: 0) { own in
            log.change { $0.append(2) }
            own.timeOut(after: 0)
        }
        let dropped = AsyncOperation(name: "there", uniquenessPolicy: .drop) { _ in log.change { $0.append(-2) } }
        let last = PlainOperation { log.change { $0.append(3) } }
        busy.queue.addSequentialOperations([first, cancelled, dropped, timedOut, last], waitUntilFinished: false)
        cancelled.cancel()
        cancelled.waitUntilFinished()
        last.waitUntilFinished()
        // Cancelling releases an operation from its own line at once, as Foundation does, so what comes after it does not
        // wait for the first one; dropping leaves the line as it is.
        #expect(log.now == [2, 3])
        held.fire()
        first.waitUntilFinished()
        #expect(log.now == [2, 3, 1])
        there.finish()
        busy.release()
    }

    @Test func shortcutsRunTheirBlocksWhereTheySay() {
        let places = Box<[String]>([])
        let done = Signal()
        inTheBackground {
            places.change { $0.append(OperationQueue.current === OperationQueue.background ? "background" : "?") }
            done.fire()
        }
        #expect(done.wait())
        inTheGlobalQueue {
            places.change { $0.append(Thread.isMainThread || OperationQueue.current != nil ? "?" : "global") }
            done.fire()
        }
        #expect(done.wait())
        #expect(places.now == ["background", "global"])
    }

    @Test func theMainThreadRunsWhatIsSentToIt() async {
        await withCheckedContinuation { continuation in
            inTheGlobalQueue {
                onTheMainThread {
                    MainActor.preconditionIsolated()
                    continuation.resume()
                }
            }
        }
    }
}
