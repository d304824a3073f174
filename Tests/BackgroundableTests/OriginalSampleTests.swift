import Backgroundable
import Foundation
import Testing

/// The samples of the documents of Backgroundable and Operations, compiled and run.
///
/// The samples of Apple's task scheduling are in `TaskSchedulerSampleTests`.
@Suite struct OriginalSampleTests {
    // MARK: Backgroundable

    @Test func executingCodeInTheBackground() {
        // Before:
        let done = Signal()
        let queue = OperationQueue()
        let task = Box(UIBackgroundTaskInvalid)
        task.change { identifier in
            identifier = BackgroundTasks.shared.beginBackgroundTask { () -> Void in
                task.change { $0 = UIBackgroundTaskInvalid }
            }
        }
        queue.addOperation(
            BlockOperation(block: { () -> Void in
                // do something in the background
                BackgroundTasks.shared.endBackgroundTask(task.now)
                done.fire()
            })
        )
        #expect(done.wait())
        // After:
        inTheBackground {
            // move to the background and get on with your life
            done.fire()
        }
        #expect(done.wait())
    }

    @Test func operationQueues() {
        let log = Box<[String]>([])
        var sequentialOperations = [Operation]()
        sequentialOperations.append(
            AsyncOperation({ (op) in
                log.change { $0.append("Executing sequential operation 1") }
                op.finish()
            })
        )
        sequentialOperations.append(
            BlockOperation(block: {
                log.change { $0.append("Executing sequential operation 2") }
                // The sequential operations work with any Operation objects, not just AsyncOperations
            })
        )
        sequentialOperations.append(
            AsyncOperation({ (op) in
                log.change { $0.append("Executing sequential operation 3") }
                op.finish()
            })
        )
        OperationQueue.background.addSequentialOperations(sequentialOperations, waitUntilFinished: true)
        #expect(log.now == (1...3).map { "Executing sequential operation \($0)" })
    }

    @Test func theBackgroundQueue() {
        let done = Signal()
        OperationQueue.background.addOperation {
            // do something
            done.fire()
        }
        #expect(done.wait())
    }

    @Test func theBackgroundQueuesDelegate() {
        final class ActivityIndicator: BackgroundQueueDelegate {
            let isVisible = Box(false)
            let hidden = Signal()

            func backgroundQueueWillStartOperations(_ queue: BackgroundQueue) {
                isVisible.change { $0 = true }
            }

            func backgroundQueueDidFinishOperations(_ queue: BackgroundQueue) {
                isVisible.change { $0 = false }
                hidden.fire()
            }
        }
        let queue = BackgroundQueue()
        let indicator = ActivityIndicator()
        queue.delegate = indicator
        let wasVisible = Box(false)
        queue.addOperation { wasVisible.change { $0 = indicator.isVisible.now } }
        #expect(indicator.hidden.wait())
        #expect(wasVisible.now && !indicator.isVisible.now)
    }

    private final class Things: Sendable {
        let log = Box<[String]>([])

        func loadThingsFromTheInternet(callback: @escaping @Sendable (_ result: String?, _ error: (any Error)?) -> Void)
        {
            inTheGlobalQueue { callback("things", nil) }
        }
    }

    @Test func asynchronousOperations() async throws {
        let things = Things()
        let log = things.log
        let operationQueue = BackgroundQueue()
        operationQueue.maxConcurrentOperationCount = 1
        operationQueue.addOperation(
            AsyncOperation({ [weak things] (op) in
                // We're on a background thread now
                things?.loadThingsFromTheInternet(callback: { (result, error) in
                    // process the result, then move to the main thread
                    onTheMainThread {
                        // go to the background
                        inTheBackground {
                            // do more stuff; once everything is done, finish
                            log.change { $0.append(result ?? "nothing") }
                            op.finish()
                            // only now the queue will start working on the next thing
                        }
                    }
                })
            })
        )
        operationQueue.addOperation { log.change { $0.append("next") } }
        try await operationQueue.drained()
        #expect(log.now == ["things", "next"])
        withExtendedLifetime(things) {}
    }

    @Test func timeouts() {
        let operation = AsyncOperation(
            timeout: 20,
            { (op) in
                // perform very long task
                op.finish()
            }
        )
        #expect(operation.timeout == 20)
        #expect(AsyncOperation({ $0.finish() }).timeout == 10)
        let called = Signal()
        let forgetful = AsyncOperation(timeout: 0.02, onTimeoutCallback: { _ in called.fire() }, { (_) in })
        OperationQueue.background.addOperation(forgetful)
        #expect(called.wait())
        #expect(forgetful.isFinished)
    }

    @Test func cancellations() {
        let begun = Signal()
        let go = Signal()
        let wentOn = Box(false)
        let operation = AsyncOperation({ (op) in
            // do some work
            begun.fire()
            _ = go.wait()

            guard !op.isCancelled else { return }  // no need to call finish() in this case

            // do some more work
            wentOn.change { $0 = true }
        })
        OperationQueue.background.addOperation(operation)
        #expect(begun.wait())
        operation.cancel()
        operation.waitUntilFinished()
        go.fire()
        OperationQueue.background.addOperations([AsyncOperation { $0.finish() }], waitUntilFinished: true)
        #expect(!wentOn.now)
    }

    @Test func theUniquenessPolicy() {
        let calls = Box(0)
        let answer = Signal()
        let queue = BackgroundQueue()
        func refresh(_ policy: AsyncOperationUniquenessPolicy) -> AsyncOperation {
            let op = AsyncOperation(name: "Call to API endpoint /xyz", uniquenessPolicy: policy) { op in
                // make the call to the API
                calls.change { $0 += 1 }
                inTheGlobalQueue {
                    _ = answer.wait()
                    op.finish()
                }
            }
            queue.addOperation(op)
            return op
        }
        let first = refresh(.drop)
        let second = refresh(.drop)
        #expect(second.isCancelled && second.isFinished && !first.isCancelled)
        let third = refresh(.replace)
        #expect(first.isCancelled && !third.isCancelled)
        answer.fire()
        answer.fire()
        queue.waitUntilAllOperationsAreFinished()
        #expect(third.ending == .finished && calls.now <= 2)
    }

    // MARK: Operations

    private class UIViewController {}

    @Test func theBlockOperation() async throws {
        let log = Box<[String]>([])
        let queue = OperationQueue()
        let show = ContinuationOperation {
            log.change { $0.append("push") }
        }

        show.addCondition(MutuallyExclusive<UIViewController>())

        show.addObserver(
            FinishedObserver { _, errors in
                onTheMainThread { log.change { $0.append("deselect") } }
            }
        )

        queue.addOperation(show)
        try await queue.drained()
        await MainActor.run {}
        #expect(log.now == ["push", "deselect"])
    }

    @Test func theBlockWithAContinuation() {
        let log = Box<[String]>([])
        let operation = ContinuationOperation { (continuation: ContinuationOperation.ContinuationBlockType) in
            log.change { $0.append("work") }
            continuation(error: nil)
        }
        OperationQueue().addOperations([operation], waitUntilFinished: true)
        #expect(log.now == ["work"] && !operation.failed)
    }

    @Test func theBlockThatStartsOtherAsynchronousTasks() {
        let things = Things()
        let operation = ContinuationOperation { continuation in
            things.loadThingsFromTheInternet { _, error in continuation(error) }
        }
        operation.addObserver(TimeoutObserver(by: 20))
        OperationQueue().addOperations([operation], waitUntilFinished: true)
        #expect(operation.ending == .finished)
    }
}
