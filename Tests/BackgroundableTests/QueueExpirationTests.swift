import Foundation
import Testing

@testable import Backgroundable

/// The expiration of background tasks that queues hold.
@Suite struct QueueExpirationTests {
    /// Tasks that expire as soon as termination begins.
    private func stage() -> BackgroundTaskStage {
        BackgroundTaskStage(grace: 3_600, lead: 3_600)
    }

    /// A queue whose background task a test begins by itself.
    private func queue() -> BackgroundQueue {
        let queue = BackgroundQueue()
        queue.holdsBackgroundTask = false
        return queue
    }

    private func waiting(_ ran: Box<Int>) -> [Operation] {
        let own = AsyncOperation { own in
            ran.change { $0 += 1 }
            own.finish()
        }
        let part = AsyncOperation { own in
            ran.change { $0 += 1 }
            own.finish()
        }
        return [
            own, GroupOperation(operations: [part]), PlainOperation { ran.change { $0 += 1 } },
            BlockOperation { ran.change { $0 += 1 } },
        ]
    }

    @Test(arguments: [false, true]) func nothingStartsBecauseAnotherQueueExpiresFirst(isNewer: Bool) {
        let ran = Box(0)
        for _ in 0..<100 {
            let stage = stage()
            let (running, dependent) = (queue(), queue())
            let begun = Signal()
            let first = AsyncOperation(timeout: 0) { _ in begun.fire() }
            let waiting = waiting(ran)
            for operation in waiting { operation.addDependency(first) }
            running.addOperation(first)
            dependent.addOperations(waiting)
            #expect(begun.wait())
            let tasks = (isNewer ? [dependent, running] : [running, dependent]).map { queue in
                stage.tasks.beginBackgroundTask(of: queue)
            }
            stage.terminate()
            for queue in [running, dependent] { queue.waitUntilAllOperationsAreFinished() }
            #expect(first.isCancelled && waiting.allSatisfy(\.isCancelled))
            for task in tasks { stage.tasks.endBackgroundTask(task) }
            #expect(stage.left.wait())
        }
        #expect(ran.now == 0)
    }

    @Test func whatAnObserverAddsMeanwhileMayUseTheTimeThatIsLeft() {
        let stage = stage()
        let queue = queue()
        let begun = Signal()
        let cleaned = Box(false)
        let cleanUp = AsyncOperation { own in
            cleaned.change { $0 = true }
            own.finish()
        }
        let first = AsyncOperation(timeout: 0) { _ in begun.fire() }
        first.addObserver(CancelledObserver { _ in queue.addOperation(cleanUp) })
        queue.addOperation(first)
        #expect(begun.wait())
        let task = stage.tasks.beginBackgroundTask(of: queue)
        stage.terminate()
        first.waitUntilFinished()
        queue.waitUntilAllOperationsAreFinished()
        #expect(cleaned.now && cleanUp.ending == .finished)
        stage.tasks.endBackgroundTask(task)
        #expect(stage.left.wait())
        #expect(stage.departures.now == [.done])
    }

    @Test func whatIsInASuspendedQueueLeavesAndDoesNotHoldUpTheProcess() {
        let stage = stage()
        let ran = Box(0)
        let queue = queue()
        queue.isSuspended = true
        let waiting = waiting(ran)
        queue.addOperations(waiting)
        let task = stage.tasks.beginBackgroundTask(of: queue)
        stage.terminate()
        queue.waitUntilAllOperationsAreFinished()
        #expect(ran.now == 0 && waiting.allSatisfy(\.isCancelled) && queue.isSuspended)
        stage.tasks.endBackgroundTask(task)
        #expect(stage.left.wait())
    }

    @Test func operationsThatOverrideCancelWithoutSuperEndAllTheSame() {
        // Unchecked for the reason of its superclass.
        final class Stubborn: AsyncOperation, @unchecked Sendable {
            override func cancel() {}
        }
        let stage = stage()
        let queue = queue()
        queue.isSuspended = true
        let stubborn = Stubborn { _ in Issue.record("it ran") }
        queue.addOperation(stubborn)
        let task = stage.tasks.beginBackgroundTask(of: queue)
        stage.terminate()
        #expect(eventually { stubborn.isCancelled })
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
        stage.tasks.endBackgroundTask(task)
        #expect(stage.left.wait())
    }
}
