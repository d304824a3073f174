import Foundation
import Testing

@testable import Backgroundable

/// Replaced and withdrawn requests.
@Suite struct TaskSchedulerReplacingTests {
    @Test func aNewerRequestTakesThePlaceOfTheOneThatWaits() throws {
        let scene = TaskScene()
        scene.register { task in
            scene.log.change { $0.append("ran") }
            task.setTaskCompleted(success: true)
        }
        try scene.submit(in: 3600)
        try scene.submit(in: 7200)
        #expect(scene.pending.count == 1)
        try scene.submit()
        #expect(scene.endings.next() == [true])
        #expect(scene.pending.isEmpty)
        #expect(scene.log.now == ["ran"])
    }

    /// Also while it waits in a queue that does not reach it.
    @Test func replacedAndCancelledRequestsNeverRunEvenFromTheQueue() throws {
        let scene = TaskScene()
        scene.queue.isSuspended = true
        scene.register { task in
            scene.log.change { $0.append("ran") }
            task.setTaskCompleted(success: true)
        }
        scene.register("other") { task in
            scene.log.change { $0.append("other") }
            task.setTaskCompleted(success: true)
        }
        for _ in 0..<3 { try scene.submit() }
        try scene.submit("other")
        #expect(scene.pending.count == 2)
        scene.scheduler.cancel(taskRequestWithIdentifier: TaskScene.identifier)
        #expect(scene.pending.map(\.identifier) == ["other"])
        scene.queue.isSuspended = false
        #expect(scene.endings.next() == [true])
        scene.queue.waitUntilAllOperationsAreFinished()
        #expect(scene.log.now == ["other"])
    }

    @Test func everyRequestCanBeWithdrawnAtOnce() throws {
        let clock = WallClock()
        let scene = TaskScene(clock: { clock.now }, longestWait: 0.02)
        scene.register { $0.setTaskCompleted(success: true) }
        let request = AppRefreshTaskRequest(identifier: TaskScene.identifier)
        request.earliestBeginDate = clock.now + 3600
        try scene.scheduler.submit(request)
        try scene.submit("other")
        scene.scheduler.cancelAllTaskRequests()
        #expect(scene.pending.isEmpty)
        clock.move(by: 3600)
        Thread.sleep(forTimeInterval: 0.1)
        #expect(scene.endings.soFar.isEmpty)
        // The scheduler is as at the start.
        try scene.submit()
        #expect(scene.endings.next() == [true])
    }

    /// A handler requests its next launch before its work, which neither disturbs the run nor overtakes it.
    @Test(arguments: [nil, 0.01, 3600.0])
    func aTaskMayRequestItsOwnNextLaunch(seconds: TimeInterval?) throws {
        let scene = TaskScene()
        let launched = Signal()
        let tasks = Box<[ScheduledTask]>([])
        scene.register { task in
            if tasks.now.isEmpty { try? scene.submit(in: seconds) }
            task.expirationHandler = { scene.log.change { $0.append("told to stop") } }
            tasks.change { $0.append(task) }
            launched.fire()
        }
        try scene.submit()
        #expect(launched.wait())
        #expect(!launched.wait(seconds: 0.1))
        #expect(scene.pending.count == 1)
        #expect(tasks.now.first?.isExpired == false)
        tasks.now.first?.setTaskCompleted(success: true)
        #expect(scene.endings.next() == [true])
        guard seconds != 3600 else { return #expect(scene.pending.count == 1) }
        #expect(launched.wait())
        tasks.now.last?.setTaskCompleted(success: true)
        #expect(scene.endings.next() == [true, true])
        #expect(scene.log.now.isEmpty)
    }

    @Test func cancellingARequestLeavesTheRunAlone() throws {
        let scene = TaskScene()
        let tasks = Box<[ScheduledTask]>([])
        let launched = Signal()
        scene.register { task in
            tasks.change { $0.append(task) }
            launched.fire()
        }
        try scene.submit()
        #expect(launched.wait())
        try scene.submit()
        scene.scheduler.cancel(taskRequestWithIdentifier: TaskScene.identifier)
        #expect(tasks.now.first?.isExpired == false)
        tasks.now.first?.setTaskCompleted(success: true)
        #expect(scene.endings.next() == [true])
        #expect(!launched.wait(seconds: 0.05))
    }

    @Test func cancellingTheQueuesOperationsWithdrawsWaitingRequests() throws {
        let scene = TaskScene()
        scene.queue.isSuspended = true
        scene.register { $0.setTaskCompleted(success: true) }
        try scene.submit()
        scene.queue.cancelAllOperations()
        #expect(scene.pending.isEmpty)
        scene.queue.isSuspended = false
        scene.queue.waitUntilAllOperationsAreFinished()
        #expect(scene.endings.soFar.isEmpty)
        try scene.submit()
        #expect(scene.endings.next() == [true])
    }

    /// The queue may reach a request just when it is replaced, and must then not run the new one.
    @Test func whatIsDueLaterIsNeverLaunchedInPlaceOfWhatWasDueNow() {
        var state = LocalTaskState()
        var later = RequestedTask("a", .refresh)
        later.earliestBeginDate = .distantFuture
        _ = state.put(RequestedTask("a", .refresh))
        #expect(state.nextStep(Date(), 60) == .enqueue(number: 1))
        #expect(state.nextStep(Date(), 60) == .nothing)
        _ = state.put(later)
        let run = state.begin(1) { TaskRun($0, allowance: nil) { _ in } }
        #expect(run == nil)
        state.forget(1)
        #expect(state.requested == later)
        #expect(state.nextStep(Date(), 60) == .look(after: 60, number: 2))
    }

    /// However many threads submit, cancel and list requests, at most one task runs at a time, and the last request
    /// runs.
    @Test func everythingIsSafeFromAnyThread() throws {
        let scene = TaskScene()
        let running = Box(0)
        let most = Box(0)
        scene.register { task in
            running.change { $0 += 1 }
            most.change { [now = running.now] in $0 = max($0, now) }
            inTheGlobalQueue {
                running.change { $0 -= 1 }
                task.setTaskCompleted(success: true)
            }
        }
        DispatchQueue.concurrentPerform(iterations: 400) { number in
            switch number % 4 {
            case 0: scene.scheduler.cancel(taskRequestWithIdentifier: TaskScene.identifier)
            case 1: _ = scene.pending
            default: try? scene.submit(in: number % 8 == 2 ? 0.002 : nil)
            }
        }
        let last = Signal()
        scene.scheduler.onCompletion = { _, _ in if scene.pending.isEmpty { last.fire() } }
        try scene.submit()
        #expect(last.wait())
        #expect(most.now == 1)
    }
}
