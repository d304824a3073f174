import Foundation
import Testing

@testable import Backgroundable

/// The rows of the document's tables that compare this library with others.
///
/// `OriginalSampleTests`, `OldNamesTests` and the tests of each part cover the rows "the same".
@Suite struct ComparisonTests {
    // MARK: Backgroundable 1.4

    @Test(arguments: [0, -1] as [TimeInterval]) func `a timeout of zero and a negative one mean forever`(
        timeout: TimeInterval
    ) {
        let operation = AsyncOperation(timeout: timeout) { _ in }
        let queue = BackgroundQueue()
        // Deadlines are handled in order, so an immediate one would come before the other one.
        let limited = AsyncOperation(timeout: 0.02) { _ in }
        queue.addOperations([operation, limited])
        limited.waitUntilFinished()
        #expect(limited.isTimedOut && operation.ending == nil && operation.description.contains("no timeout"))
        operation.finish()
        queue.waitUntilAllOperationsAreFinished()
    }

    @Test func `finishing before the start is no cancellation and leaves at its turn`() {
        let queue = BackgroundQueue()
        queue.isSuspended = true
        let completed = Signal()
        let operation = AsyncOperation { _ in Issue.record("it ran") }
        operation.completionBlock = { completed.fire() }
        queue.addOperation(operation)
        operation.finish()
        #expect(operation.ending == .finished && !operation.isCancelled && !operation.isFinished)
        queue.isSuspended = false
        #expect(completed.wait())
        #expect(operation.isFinished && !operation.isCancelled)
    }

    @Test func `a dropped operation is cancelled and finished and calls its completion block`() {
        let queue = BackgroundQueue()
        queue.isSuspended = true
        let first = AsyncOperation(name: "same") { $0.finish() }
        let dropped = AsyncOperation(name: "same", uniquenessPolicy: .drop) { _ in Issue.record("it ran") }
        let completed = Signal()
        dropped.completionBlock = { completed.fire() }
        queue.addOperation(first)
        queue.addOperation(dropped)
        #expect(completed.wait())
        #expect(dropped.isCancelled && dropped.isFinished && !first.isCancelled && queue.operationCount == 1)
        let after = PlainOperation()
        after.addDependency(dropped)
        OperationQueue().addOperations([after], waitUntilFinished: true)
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
    }

    @Test func `a delegate is called where the change is made, before the first operation starts`() {
        final class Delegate: BackgroundQueueDelegate {
            let thread = Box<ObjectIdentifier?>(nil)
            let starts = Box(0)

            func backgroundQueueWillStartOperations(_ queue: BackgroundQueue) {
                thread.change { $0 = ObjectIdentifier(Thread.current) }
                // Foundation's queue, which starts operations, does not have it yet.
                if queue.operations.isEmpty { starts.change { $0 += 1 } }
            }

            func backgroundQueueDidFinishOperations(_ queue: BackgroundQueue) {}
        }
        let queue = BackgroundQueue()
        let delegate = Delegate()
        queue.delegate = delegate
        let seen = Box(0)
        queue.addOperations([PlainOperation { seen.change { $0 = delegate.starts.now } }], waitUntilFinished: true)
        #expect(seen.now == 1 && delegate.thread.now == ObjectIdentifier(Thread.current))
    }

    @Test func `quality of service and name of a queue are those of Foundation's`() {
        let queue = BackgroundQueue()
        #expect(queue.qualityOfService == OperationQueue().qualityOfService)
        #expect(queue.name?.hasPrefix("NSOperationQueue") == true && OperationQueue.background.name == "background")
        queue.qualityOfService = .utility
        queue.name = "mine"
        #expect(queue.qualityOfService == .utility && queue.name == "mine")
    }

    // MARK: Operations, ProcedureKit

    @Test func `ignored cancellations of dependencies cancel the operation without an error`() {
        for isPlain in [false, true] {
            let cancelled = isPlain ? PlainOperation() : AsyncOperation { $0.finish() }
            cancelled.cancel()
            let failed = AsyncOperation { $0.finish(with: Mishap("broken")) }
            for (dependencies, errors) in [([cancelled], 0), ([cancelled, failed], 1), ([failed], 1)] {
                let operation = AsyncOperation { _ in Issue.record("it ran") }
                for dependency in dependencies { operation.addDependency(dependency) }
                operation.addCondition(NoFailedDependenciesCondition(ignoreCancellations: true))
                let queue = BackgroundQueue()
                for one in dependencies where !one.isFinished && one.isReady && !one.isExecuting { one.start() }
                queue.addOperations([operation], waitUntilFinished: true)
                #expect(operation.isCancelled && operation.errors.count == errors)
            }
        }
    }

    @Test func `barriers are not among the dependencies`() {
        let queue = BackgroundQueue()
        queue.isSuspended = true
        queue.addOperation {}
        queue.addBarrierBlock {}
        let operation = AsyncOperation { $0.finish() }
        operation.addCondition(NoFailedDependenciesCondition())
        queue.addOperation(operation)
        #expect(operation.dependencies.isEmpty && !operation.isReady)
        queue.isSuspended = false
        operation.waitUntilFinished()
        #expect(operation.ending == .finished)
    }

    @Test func `conditions are called by their names in errors`() {
        #expect(MutuallyExclusive<String>().name == "MutuallyExclusive<type Swift.String>")
        #expect(MutuallyExclusive(category: "reports").name == "MutuallyExclusive<name reports>")
        #expect(NegatedCondition(BlockCondition(name: "full") { true }).name == "not full")
        #expect(SilentCondition(BlockCondition(name: "full") { true }).name == "full")
        #expect(NoFailedDependenciesCondition().name == "NoFailedDependenciesCondition")
    }

    @Test func `a block observer is notified of the start, a cancellation, a timeout and the end`() {
        func moments(_ operation: AsyncOperation) -> [String] {
            let log = Box<[String]>([])
            let ended = Signal()
            operation.addObserver(
                BlockObserver(
                    startHandler: { _ in log.change { $0.append("start") } },
                    cancelHandler: { _ in log.change { $0.append("cancel") } },
                    timeoutHandler: { _ in log.change { $0.append("timeout") } },
                    finishHandler: { _, errors in
                        log.change { $0.append("finish \(errors.count)") }
                        ended.fire()
                    }
                )
            )
            BackgroundQueue().addOperation(operation)
            _ = ended.wait()
            return log.now
        }
        #expect(moments(AsyncOperation { $0.finish() }) == ["start", "finish 0"])
        #expect(moments(AsyncOperation { $0.cancel() }) == ["start", "cancel", "finish 0"])
        #expect(moments(AsyncOperation { $0.timeOut(after: 0) }) == ["start", "timeout", "finish 1"])
    }

    @Test func `errors after a cancellation are lost, those of the cancellation are not`() {
        let operation = AsyncOperation { own in
            own.cancel(with: Mishap("why"))
            own.finish(with: Mishap("late"))
        }
        let silent = AsyncOperation { own in
            own.cancel()
            own.finish(with: Mishap("late"))
        }
        BackgroundQueue().addOperations([operation, silent], waitUntilFinished: true)
        #expect(operation.errors.map { "\($0)" } == ["why"] && silent.errors.isEmpty && silent.isCancelled)
    }

    @Test func `errors of parts are one list, and a group's own are not passed to its parts`() {
        let parts = (0..<2).map { number in AsyncOperation { $0.finish(with: Mishap("\(number)")) } }
        let nested = GroupOperation(operations: [GroupOperation(operations: parts)])
        BackgroundQueue().addOperations([nested], waitUntilFinished: true)
        #expect(nested.errors.map { "\($0)" }.sorted() == ["0", "1"])
        let begun = Signal()
        let part = AsyncOperation(timeout: 0) { _ in begun.fire() }
        let group = GroupOperation(operations: [part])
        BackgroundQueue().addOperation(group)
        #expect(begun.wait())
        group.cancel(with: Mishap("why"))
        group.waitUntilFinished()
        #expect(part.isCancelled && part.errors.isEmpty && group.errors.count == 1)
    }
}
