import Foundation
import Testing

@testable import Backgroundable

/// Cancelling many operations at once: nothing starts because something else was cancelled first.
@Suite struct CancellationTests {
    /// An operation that runs until it is cancelled, and signals its start.
    private func runner(_ begun: Signal) -> AsyncOperation {
        AsyncOperation(timeout: 0) { _ in begun.fire() }
    }

    /// Lets `cancel` cancel an operation that runs and others that wait for it, many times. Returns how many of those
    /// that waited ran.
    private func strays(
        rounds: Int = 300,
        waiting kind: (_ ran: Box<Int>) -> [Operation],
        in makeQueue: () -> BackgroundQueue = { BackgroundQueue() },
        add: (BackgroundQueue, AsyncOperation, [Operation]) -> Void,
        cancel: (BackgroundQueue) -> Void = { $0.cancelAllOperations() }
    ) -> Int {
        let ran = Box(0)
        for _ in 0..<rounds {
            let queue = makeQueue()
            let begun = Signal()
            let waiting = kind(ran)
            add(queue, runner(begun), waiting)
            guard begun.wait() else { return -1 }
            cancel(queue)
            queue.waitUntilAllOperationsAreFinished()
            for operation in waiting { operation.waitUntilFinished() }
        }
        return ran.now
    }

    private func own(_ count: Int) -> (Box<Int>) -> [Operation] {
        { ran in
            (0..<count).map { _ in
                AsyncOperation { own in
                    ran.change { $0 += 1 }
                    own.finish()
                }
            }
        }
    }

    private func mixed(_ ran: Box<Int>) -> [Operation] {
        own(5)(ran) + (0..<5).map { _ in BlockOperation { ran.change { $0 += 1 } } }
            + (0..<5).map { _ in PlainOperation { ran.change { $0 += 1 } } }
    }

    @Test func anOperationThatIsJustBeingAddedIsCancelled() {
        /// Foundation asks whether it is ready before it lists it. Unchecked for the reason of its superclass.
        final class Asked: AsyncOperation, @unchecked Sendable {
            let isCancelling = Signal()
            let isAsked = Signal()

            override var isReady: Bool {
                defer {
                    isAsked.fire()
                    if ending == nil { _ = isCancelling.wait() }
                }
                return super.isReady
            }
        }
        let queue = BackgroundQueue()
        let operation = Asked { _ in Issue.record("it ran") }
        operation.addCondition(
            BlockCondition { [unowned operation] in
                _ = operation.isAsked.wait()
                queue.cancelAllOperations()
                operation.isCancelling.fire()
                return true
            }
        )
        queue.addOperation(operation)
        operation.waitUntilFinished()
        #expect(operation.isCancelled)
    }

    @Test func successorsDoNotStart() {
        let count = strays(waiting: own(1)) { queue, first, rest in
            queue.addSequentialOperations([first] + rest, waitUntilFinished: false)
        }
        #expect(count == 0)
    }

    @Test func chainsOfAnyKindDoNotStart() {
        let count = strays(waiting: mixed) { queue, first, rest in
            queue.addSequentialOperations([first] + rest.shuffled(), waitUntilFinished: false)
        }
        #expect(count == 0)
    }

    @Test func operationsThatWaitForAPlaceDoNotStart() {
        let count = strays(waiting: mixed) { queue, first, rest in
            queue.maxConcurrentOperationCount = 1
            queue.addOperation(first)
            queue.addOperations(rest)
        }
        #expect(count == 0)
    }

    @Test func barriersAndWhatWaitsForThemDoNotStart() {
        let blocks = Box(0)
        let count = strays(waiting: own(5)) { queue, first, rest in
            queue.addOperation(first)
            queue.addBarrierBlock { blocks.change { $0 += 1 } }
            queue.addOperations(rest)
        }
        #expect(count == 0 && blocks.now == 0)
    }

    @Test func operationsThatWaitForTheirCategoryDoNotStart() {
        let count = strays(waiting: own(5)) { queue, first, rest in
            for operation in [first] + rest.compactMap({ $0 as? AsyncOperation }) {
                operation.addCondition(MutuallyExclusive(category: "cancelled together"))
                queue.addOperation(operation)
            }
        }
        #expect(count == 0)
    }

    @Test func partsOfGroupsThatRunDoNotStart() {
        let count = strays(waiting: own(3)) { queue, first, rest in
            let gate = AsyncOperation { $0.finish() }
            for part in rest { part.addDependency(first) }
            // A running part shows that its group runs.
            let inner = GroupOperation(operations: rest + [gate])
            queue.addOperation(GroupOperation(operations: [inner]))
            gate.waitUntilFinished()
            queue.addOperation(first)
        }
        #expect(count == 0)
    }

    @Test func partsOfAGroupThatIsCancelledDoNotStart() {
        let ran = Box(0)
        for _ in 0..<300 {
            let begun = Signal()
            let first = runner(begun)
            let nested = own(3)(ran)
            for part in nested { part.addDependency(first) }
            let gate = AsyncOperation { $0.finish() }
            let group = GroupOperation(operations: [first, GroupOperation(operations: nested + [gate])])
            let queue = OperationQueue()
            queue.addOperation(group)
            gate.waitUntilFinished()
            #expect(begun.wait())
            group.cancel()
            queue.waitUntilAllOperationsAreFinished()
            for part in nested { part.waitUntilFinished() }
        }
        #expect(ran.now == 0)
    }

    @Test func operationsThatAreReplacedTogetherDoNotStart() {
        let count = strays(
            waiting: own(5),
            add: { queue, first, rest in
                queue.maxConcurrentOperationCount = 1
                for operation in [first] + rest {
                    operation.name = "replaced"
                    queue.addOperation(operation)
                }
            },
            cancel: { $0.addAsyncOperation(name: "replaced", uniquenessPolicy: .replace) { $0.finish() } }
        )
        #expect(count == 0)
    }

    @Test func aSuspendedQueueStaysSuspendedAndAResumedOneRunsWhatComesLater() {
        let queue = BackgroundQueue()
        queue.isSuspended = true
        let waiting = AsyncOperation { $0.finish() }
        queue.addOperation(waiting)
        queue.cancelAllOperations()
        #expect(queue.isSuspended && waiting.isCancelled && !waiting.isFinished)
        queue.isSuspended = false
        let later = AsyncOperation { $0.finish() }
        queue.addOperations([later], waitUntilFinished: true)
        #expect(later.ending == .finished && !queue.isSuspended)
        waiting.waitUntilFinished()
    }

    @Test func observersMayUseTheQueueMeanwhile() {
        let queue = BackgroundQueue()
        let begun = Signal()
        let first = runner(begun)
        let added = AsyncOperation { $0.finish() }
        first.addObserver(CancelledObserver { _ in queue.addOperations([added], waitUntilFinished: true) })
        let waiting = AsyncOperation { $0.finish() }
        let noticed = Box(0)
        waiting.addObserver(CancelledObserver { _ in noticed.change { $0 += 1 } })
        queue.addSequentialOperations([first, waiting], waitUntilFinished: false)
        #expect(begun.wait())
        queue.cancelAllOperations()
        queue.waitUntilAllOperationsAreFinished()
        #expect(added.ending == .finished && waiting.isCancelled && noticed.now == 1)
    }

    @Test func subclassesAreAskedToCancelOnce() {
        // Unchecked for the reason of its superclass.
        final class Counting: AsyncOperation, @unchecked Sendable {
            let calls = Box(0)

            override func cancel() {
                calls.change { $0 += 1 }
                super.cancel()
            }
        }
        // Unchecked for the reason of its superclass.
        final class Stubborn: AsyncOperation, @unchecked Sendable {
            override func cancel() {}
        }
        let queue = BackgroundQueue()
        let begun = Signal()
        let counting = (0..<3).map { _ in Counting { $0.finish() } }
        let stubborn = Stubborn { $0.finish() }
        queue.addSequentialOperations([runner(begun)] + counting + [stubborn], waitUntilFinished: false)
        #expect(begun.wait())
        queue.cancelAllOperations()
        queue.waitUntilAllOperationsAreFinished()
        #expect(counting.allSatisfy { $0.calls.now == 1 && $0.isCancelled })
        #expect(stubborn.isCancelled)
    }

    @Test func concurrentStartsAndCancellationsLoseNoOperation() {
        let queue = BackgroundQueue()
        queue.maxConcurrentOperationCount = 3
        let listener = Listener()
        queue.delegate = listener
        let operations = (0..<2_000).map { number in
            AsyncOperation(name: number.isMultiple(of: 3) ? "shared" : nil) { own in
                if number.isMultiple(of: 2) { own.finish() } else { inTheGlobalQueue { own.finish() } }
            }
        }
        DispatchQueue.concurrentPerform(iterations: 4) { thread in
            for number in stride(from: thread, to: operations.count, by: 4) {
                queue.addOperation(operations[number])
                if number.isMultiple(of: 50) { queue.cancelAllOperations() }
            }
        }
        queue.waitUntilAllOperationsAreFinished()
        #expect(operations.allSatisfy { $0.isFinished })
        #expect(eventually { listener.log.now.last == "finish" })
    }
}

/// The references of a retained operation after its closure has returned.
@Suite struct HeldOperationTests {
    @Test(arguments: [AsyncOperationEnding.cancelled, .timedOut, .finished], [true, false])
    func itDoesNotKeepItsQueue(ending: AsyncOperationEnding, hasAttachments: Bool) {
        for _ in 0..<20 {
            weak var gone: BackgroundQueue?
            let begun = Signal()
            let held = Signal()
            let operation = AsyncOperation(timeout: 0) { _ in
                begun.fire()
                _ = held.wait()
            }
            if hasAttachments { operation.addObserver(FinishedObserver { _, _ in }) }
            do {
                let queue = BackgroundQueue()
                gone = queue
                queue.addOperation(operation)
                #expect(begun.wait())
                if ending == .finished { operation.finish() }
                if ending == .cancelled { queue.cancelAllOperations() }
                if ending == .timedOut { operation.timeOut(after: 1) }
                operation.waitUntilFinished()
            }
            held.fire()
            #expect(eventually { gone == nil })
            #expect(operation.ending == ending)
        }
    }

    @Test func neitherDoesOneWhoseTaskRunsOnNorAGroup() async throws {
        weak var gone: BackgroundQueue?
        let begun = Box(0)
        let held = Signal()
        let operation = AsyncOperation(timeout: 0) { _ in
            begun.change { $0 += 1 }
            await withCheckedContinuation { continuation in
                inTheGlobalQueue {
                    _ = held.wait()
                    continuation.resume()
                }
            }
        }
        let part = AsyncOperation(timeout: 0) { _ in
            begun.change { $0 += 1 }
            _ = held.wait()
        }
        let group = GroupOperation(operations: [part])
        do {
            let queue = BackgroundQueue()
            gone = queue
            queue.addOperations([operation, group])
            // Tests may block every thread of the pool for tasks; this one must not.
            #expect(await eventually { begun.now == 2 })
            queue.cancelAllOperations()
            try await queue.drained()
        }
        held.fire()
        held.fire()
        #expect(await eventually { gone == nil })
        #expect(operation.isCancelled && group.isCancelled)
    }

    @Test func endingAndReturningAtTheSameMomentLeavesNothing() {
        let queues = Box<[WeakQueue]>([])
        var operations: [AsyncOperation] = []
        for number in 0..<2_000 {
            let queue = BackgroundQueue()
            queues.change { $0.append(WeakQueue(queue: queue)) }
            let begun = Box(false)
            let operation = AsyncOperation(timeout: number.isMultiple(of: 2) ? 0.000_1 : 0) { _ in
                begun.change { $0 = true }
            }
            operations.append(operation)
            queue.addOperation(operation)
            // Its timeout may pass before the closure begins.
            #expect(eventually { begun.now || operation.ending != nil })
            operation.cancel()
        }
        for operation in operations { operation.waitUntilFinished() }
        #expect(eventually { queues.now.allSatisfy { $0.queue == nil } })
    }
}

private struct WeakQueue: Sendable {
    weak let queue: BackgroundQueue?
}
