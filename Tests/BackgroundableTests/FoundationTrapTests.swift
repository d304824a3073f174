import Foundation
import Synchronization
import Testing

@testable import Backgroundable

/// Known past and present errors of Foundation's queues on Linux.
@Suite struct FoundationTrapTests {
    @Test func cancellingReleasesWhatDependsOnIt() {
        let queue = BackgroundQueue()
        queue.maxConcurrentOperationCount = 1
        let never = PlainOperation()
        let waiting = AsyncOperation { $0.finish() }
        waiting.addDependency(never)
        let ran = Box(false)
        let dependent = BlockOperation { ran.change { $0 = true } }
        dependent.addDependency(waiting)
        queue.addOperations([dependent, waiting], waitUntilFinished: false)
        waiting.cancel()
        queue.waitUntilAllOperationsAreFinished()
        #expect(ran.now && waiting.isFinished)
    }

    @Test func oneAtATimeIsNoDeadlockWhenLaterOnesMustRunFirst() {
        let queue = BackgroundQueue()
        queue.maxConcurrentOperationCount = 1
        let log = Box<[Int]>([])
        let operations = (0..<50).map { number in
            AsyncOperation(name: "\(number)") { own in
                log.change { $0.append(number) }
                own.finish()
            }
        }
        for (earlier, later) in zip(operations, operations.dropFirst()) { earlier.addDependency(later) }
        queue.addOperations(operations, waitUntilFinished: true)
        #expect(log.now == Array((0..<50).reversed()))
    }

    @Test func oneAtATimeAddingFromInsideIsNoDeadlock() {
        let queue = BackgroundQueue()
        queue.maxConcurrentOperationCount = 1
        let done = Signal()
        queue.addAsyncOperation { outer in
            let inner = queue.addAsyncOperation { $0.finish() }
            inner.completionBlock = { done.fire() }
            outer.finish()
        }
        #expect(done.wait())
    }

    @Test func aCancelledOperationAddedWhileABarrierIsPendingIsNoDeadlock() {
        let queue = BackgroundQueue()
        let held = Signal()
        queue.addOperation { _ = held.wait() }
        queue.addBarrierBlock {}
        let done = Signal()
        let cancelled: [Operation] = [PlainOperation(), AsyncOperation { _ in }]
        inTheGlobalQueue {
            for operation in cancelled {
                operation.cancel()
                queue.addOperation(operation)
            }
            done.fire()
        }
        #expect(done.wait())
        held.fire()
        queue.waitUntilAllOperationsAreFinished()
        #expect(cancelled.allSatisfy { $0.isFinished })
    }

    @Test func aQueueThatIsLetGoFinishesItsWorkAndGoes() {
        let done = Signal()
        let held = Signal()
        weak var gone: BackgroundQueue?
        do {
            let queue = BackgroundQueue()
            gone = queue
            for _ in 0..<100 {
                queue.addAsyncOperation { own in
                    inTheGlobalQueue {
                        own.finish()
                        done.fire()
                    }
                }
            }
            queue.addOperation {
                _ = held.wait()
                done.fire()
            }
            queue.addOperation(PlainOperation { done.fire() })
        }
        held.fire()
        for _ in 0..<102 { #expect(done.wait()) }
        let patience = MonotonicTime.now + 20_000_000_000
        while gone != nil, MonotonicTime.now < patience { Thread.sleep(forTimeInterval: 0.001) }
        #expect(gone == nil)
    }

    @Test func completionBlocksAreLeftToTheirOwners() {
        let queue = BackgroundQueue()
        let listener = Listener()
        queue.delegate = listener
        let done = Signal()
        let operation = PlainOperation()
        operation.completionBlock = { done.fire() }
        queue.addOperation(operation)
        operation.completionBlock = { done.fire() }
        #expect(done.wait())
        #expect(listener.emptied.wait())
    }

    @Test func operationsBehindOneThatIsNotReadyAreNotForgotten() {
        for queue in [OperationQueue(), BackgroundQueue()] {
            for _ in 0..<50 {
                let never = AsyncOperation(timeout: 0) { _ in }
                let later = AsyncOperation(timeout: 0) { _ in }
                // In order: not ready, ready, ready, not ready yet, ready.
                let line = (0..<5).map { _ in AsyncOperation { $0.finish() } }
                line[0].addDependency(never)
                line[3].addDependency(later)
                for operation in line { queue.addOperation(operation) }
                for number in [1, 2, 4] { line[number].waitUntilFinished() }
                later.start()
                later.finish()
                line[3].waitUntilFinished()
                never.cancel()
                never.start()
                line[0].waitUntilFinished()
                #expect(queue.operationCount == 0 || eventually { queue.operationCount == 0 })
            }
        }
    }

    @Test func dependenciesAreKeptUnderLoad() {
        let queue = BackgroundQueue()
        let wasEarly = Box(false)
        for _ in 0..<200 {
            let first = (0..<4).map { _ in AsyncOperation { own in inTheGlobalQueue { own.finish() } } }
            let second = BlockOperation {
                if first.contains(where: { !$0.isFinished }) { wasEarly.change { $0 = true } }
            }
            for operation in first { second.addDependency(operation) }
            queue.addOperations([second] + first)
        }
        queue.waitUntilAllOperationsAreFinished()
        #expect(!wasEarly.now)
    }

    @Test func queuesMayGoWhileTheirOperationsEndElsewhere() {
        let ended = DispatchGroup()
        for number in 0..<2_000 {
            let queue = BackgroundQueue()
            queue.maxConcurrentOperationCount =
                number.isMultiple(of: 2) ? 1 : OperationQueue.defaultMaxConcurrentOperationCount
            for step in 0..<4 {
                ended.enter()
                let operation = AsyncOperation(timeout: step == 3 ? 0.001 : 10) { own in
                    guard step < 3 else { return }
                    inTheGlobalQueue { if step == 2 { own.cancel() } else { own.finish() } }
                }
                operation.completionBlock = { ended.leave() }
                queue.addOperation(operation)
            }
        }
        #expect(ended.wait(timeout: .now() + 120) == .success)
    }

    @Test func finishingOnAnotherThreadWhileStartReturnsIsSeenOnce() {
        let completions = Box(0)
        let all = DispatchGroup()
        let queue = OperationQueue()
        for _ in 0..<2_000 {
            all.enter()
            let operation = AsyncOperation { own in
                inTheGlobalQueue { own.finish() }
                own.finish()
            }
            operation.completionBlock = {
                completions.change { $0 += 1 }
                all.leave()
            }
            queue.addOperation(operation)
        }
        #expect(all.wait(timeout: .now() + 120) == .success)
        queue.waitUntilAllOperationsAreFinished()
        #expect(completions.now == 2_000)
    }
}

extension FoundationTrapTests {
    /// An operation that is added just when its last dependency finishes runs, although nothing else happens in its
    /// queue.
    @Test func aDependencyThatFinishesWhileItsDependentIsAddedReleasesIt() {
        let next = Locked<AsyncOperation?>(nil)
        let isOver = Atomic<Bool>(false)
        let turn = Atomic<Int>(0)
        let ended = Signal()
        Thread {
            var seen = 0
            while !isOver.load(ordering: .acquiring) {
                let now = turn.load(ordering: .acquiring)
                guard now != seen else { continue }
                seen = now
                for _ in 0..<(now * 7 % 97) { _ = turn.load(ordering: .relaxed) }
                next.withLock { $0 }?.finish()
            }
            ended.fire()
        }.start()
        for round in 1...8_000 {
            let first = AsyncOperation(timeout: 0) { _ in }
            first.start()
            let second: Operation = round.isMultiple(of: 2) ? AsyncOperation { $0.finish() } : PlainOperation()
            second.addDependency(first)
            let queue = BackgroundQueue()
            next.withLock { $0 = first }
            turn.store(round, ordering: .releasing)
            queue.addOperation(second)
            guard eventually({ second.isFinished }) else {
                Issue.record("round \(round) is stuck")
                break
            }
        }
        isOver.store(true, ordering: .releasing)
        _ = ended.wait()
    }

    /// The thread of the queue, when the start has returned, and the thread that finishes the operation both tell
    /// Foundation that it has ended. Here the queue's is first, and the other one is done before it goes on.
    @Test func aCompletionBlockIsCalledWhenTheQueueSeesTheEndFirst() {
        let seen = Signal()
        let finished = Signal()
        let called = Signal()
        let operation = LateOperation(seen: seen) { finished.fire() }
        operation.completionBlock = { called.fire() }
        let dependent = AskedOperation(about: operation) {
            seen.fire()
            _ = finished.wait()
        }
        dependent.addDependency(operation)
        BackgroundQueue().addOperation(operation)
        #expect(called.wait())
        #expect(eventually { operation.completionBlock == nil })
    }
}

/// An operation that another thread finishes. That thread has marked it as finished, and tells Foundation so when the
/// queue has seen it.
private final class LateOperation: AsyncOperation, @unchecked Sendable {
    private let marked = Signal()
    private let seen: Signal
    private let afterwards: @Sendable () -> Void

    init(seen: Signal, _ afterwards: @escaping @Sendable () -> Void) {
        self.seen = seen
        self.afterwards = afterwards
        super.init(timeout: 0.0)
    }

    override func execute() {
        Thread { [self] in
            finish()
            afterwards()
        }.start()
        _ = marked.wait()
    }

    override func letGo() {
        marked.fire()
        _ = seen.wait()
    }
}

/// An operation that calls a closure the first time that Foundation asks whether it is ready after another one has
/// finished.
private final class AskedOperation: Operation, @unchecked Sendable {
    private weak var other: Operation?
    private let question: @Sendable () -> Void
    private let isAsked = Box(false)

    init(about other: Operation, _ question: @escaping @Sendable () -> Void) {
        self.other = other
        self.question = question
    }

    override var isReady: Bool {
        if other?.isFinished == true, !isAsked.now {
            isAsked.change { $0 = true }
            question()
        }
        return super.isReady
    }
}
