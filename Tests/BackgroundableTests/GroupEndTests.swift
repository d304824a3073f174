import Foundation
import Testing

@testable import Backgroundable

/// A group finishes when its work does.
@Suite struct GroupEndTests {
    private enum Added: CaseIterable {
        case own, plain, block, barrier, sequential, several
    }

    /// Adds work to a queue that runs until it is released.
    private func add(_ kind: Added, to queue: OperationQueue?, _ held: Signal, _ done: Box<Bool>) {
        @Sendable func work() {
            _ = held.wait()
            done.change { $0 = true }
        }
        let own = AsyncOperation(timeout: 0) { own in
            inTheGlobalQueue {
                work()
                own.finish(with: Mishap("added"))
            }
        }
        switch kind {
        case .own: queue?.addOperation(own)
        case .plain: queue?.addOperation(PlainOperation { work() })
        case .block: queue?.addOperation { work() }
        case .barrier: queue?.addBarrierBlock { work() }
        case .sequential: queue?.addSequentialOperations([PlainOperation(), own], waitUntilFinished: false)
        case .several: queue?.addOperations([own], waitUntilFinished: false)
        }
    }

    @Test func whatAPartAddsToItsQueueIsWorkOfTheGroup() {
        for kind in Added.allCases {
            for isNested in [false, true] {
                let held = Signal()
                let done = Box(false)
                let added = Signal()
                let part = AsyncOperation { own in
                    add(kind, to: OperationQueue.current, held, done)
                    own.finish()
                    added.fire()
                }
                let inner = GroupOperation(operations: [part])
                let group = isNested ? GroupOperation(operations: [inner]) : inner
                BackgroundQueue().addOperation(group)
                #expect(added.wait())
                #expect(eventually { !inner.operations.contains(part) })
                #expect(!group.isFinished && group.ending == nil)
                held.fire()
                group.waitUntilFinished()
                #expect(done.now)
                let fails = [.own, .sequential, .several].contains(kind)
                #expect(group.errors.map { "\($0)" } == (fails ? ["added"] : []))
            }
        }
    }

    @Test(arguments: [true, false], [true, false])
    func aGroupThatIsEndedWaitsForThePlainPartsThatRun(cancels: Bool, isNested: Bool) {
        let held = Signal()
        let begun = Signal()
        let plain = PlainOperation {
            begun.fire()
            _ = held.wait()
        }
        let block = BlockOperation {
            begun.fire()
            _ = held.wait()
        }
        let waiting = AsyncOperation { $0.finish() }
        waiting.addDependency(plain)
        let inner = GroupOperation(operations: [plain, block, waiting])
        let group = isNested ? GroupOperation(operations: [inner]) : inner
        let finished = Box(false)
        group.addObserver(FinishedObserver { _, _ in finished.change { $0 = true } })
        let queue = BackgroundQueue()
        queue.addOperation(group)
        #expect(begun.wait() && begun.wait())
        if cancels { group.cancel() } else { group.finish() }
        #expect(group.isCancelled == cancels && plain.isCancelled && block.isCancelled)
        #expect(eventually { inner.operations.count == 2 } && waiting.isFinished)
        #expect(!group.isFinished && group.isExecuting && !finished.now && queue.operationCount == 1)
        held.fire()
        #expect(eventually { inner.operations.count == 1 })
        #expect(!group.isFinished)
        held.fire()
        queue.waitUntilAllOperationsAreFinished()
        #expect(group.isFinished && finished.now && plain.isFinished && block.isFinished && waiting.isCancelled)
        #expect(group.ending == (cancels ? .cancelled : .finished))
    }

    @Test(arguments: [true, false]) func itsTimeoutFinishesItWhateverRuns(isCancelledBefore: Bool) {
        let held = Signal()
        let begun = Signal()
        let plain = PlainOperation {
            begun.fire()
            _ = held.wait()
        }
        let group = GroupOperation(operations: [plain])
        let queue = BackgroundQueue()
        queue.addOperation(group)
        #expect(begun.wait())
        if isCancelledBefore { group.cancel() }
        group.timeOut(after: 0)
        queue.waitUntilAllOperationsAreFinished()
        #expect(group.ending == (isCancelledBefore ? .cancelled : .timedOut))
        #expect(!plain.isFinished && eventually { plain.isCancelled })
        held.fire()
        plain.waitUntilFinished()
    }

    @Test func whatIsAddedToItsQueueAfterItsEndIsCancelled() {
        let held = Signal()
        let begun = Signal()
        let ran = Box(false)
        let late = AsyncOperation { own in
            ran.change { $0 = true }
            own.finish()
        }
        let part = AsyncOperation(timeout: 0) { _ in
            let queue = OperationQueue.current
            begun.fire()
            _ = held.wait()
            queue?.addOperation(late)
            queue?.addOperation { ran.change { $0 = true } }
            queue?.addBarrierBlock { ran.change { $0 = true } }
            begun.fire()
        }
        let group = GroupOperation(operations: [part])
        OperationQueue().addOperation(group)
        #expect(begun.wait())
        group.cancel()
        group.waitUntilFinished()
        held.fire()
        #expect(begun.wait())
        late.waitUntilFinished()
        #expect(!ran.now && late.errors.map { "\($0)" } == ["its group had ended before it could start"])
    }

    @Test func aGroupWaitsForWhatItsPartsConditionsHaveRun() {
        struct Prepared: OperationCondition {
            let first: Operation

            func dependency(for operation: AsyncOperation) -> Operation? { first }

            func evaluate(
                for operation: AsyncOperation,
                completion: @escaping @Sendable (OperationConditionResult) -> Void
            ) { completion(.satisfied) }
        }
        let held = Signal()
        let begun = Signal()
        let first = PlainOperation {
            begun.fire()
            _ = held.wait()
        }
        let failing = AsyncOperation { $0.finish(with: Mishap("helper")) }
        let part = AsyncOperation { $0.finish() }
        part.addCondition(Prepared(first: first))
        part.addCondition(Prepared(first: failing))
        let group = GroupOperation(operations: [part])
        let queue = OperationQueue()
        queue.addOperation(group)
        #expect(begun.wait())
        failing.waitUntilFinished()
        group.cancel()
        #expect(eventually { group.operations.isEmpty } && part.isFinished)
        #expect(!group.isFinished)
        held.fire()
        queue.waitUntilAllOperationsAreFinished()
        #expect(group.isCancelled && !group.failed)
    }

    @Test func aRetryCountsItsAttemptsAndWaitsForWhatTheyAdd() {
        let held = Signal()
        let added = Box(false)
        let retry = RetryOperation(attempts: 3, delay: .immediate) { attempt in
            AsyncOperation { own in
                if attempt == 1 {
                    OperationQueue.current?.addOperation(
                        AsyncOperation { inner in
                            _ = held.wait()
                            added.change { $0 = true }
                            inner.finish(with: Mishap("added"))
                        }
                    )
                }
                own.finish(with: attempt < 2 ? Mishap("again") : nil)
            }
        }
        let queue = BackgroundQueue()
        queue.addOperation(retry)
        // The addition of the first attempt is the only remaining part.
        #expect(eventually { retry.attemptsMade == 2 && retry.operations.count == 1 })
        #expect(!retry.isFinished)
        held.fire()
        queue.waitUntilAllOperationsAreFinished()
        #expect(added.now && retry.attemptsMade == 2 && !retry.failed)
    }

    @Test func cancellingAtAnyMomentLeavesNoPartRunning() {
        for round in 0..<300 {
            let running = Box(0)
            let parts = (0..<6).map { _ in
                PlainOperation {
                    running.change { $0 += 1 }
                    running.change { $0 -= 1 }
                }
            }
            let adding = AsyncOperation { own in
                OperationQueue.current?.addOperations(Array(parts.dropFirst(4)), waitUntilFinished: false)
                own.finish()
            }
            let group = GroupOperation(operations: Array(parts.prefix(4)) + [adding])
            let queue = BackgroundQueue()
            queue.addOperation(group)
            Thread.sleep(forTimeInterval: Double(round) * 1e-6)
            group.cancel()
            group.waitUntilFinished()
            // Every part that has entered the group has left it.
            #expect(parts.prefix(4).allSatisfy { $0.isFinished } && running.now == 0)
        }
    }
}
