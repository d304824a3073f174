import Foundation
import Testing

@testable import Backgroundable

/// When tasks are launched, and how long they may take.
@Suite struct TaskSchedulerTimeTests {
    @Test func aRequestIsNotLaunchedBeforeItsDate() throws {
        let scene = TaskScene()
        let launchedAt = Box<[Date]>([])
        scene.register { task in
            launchedAt.change { $0.append(Date()) }
            task.setTaskCompleted(success: true)
        }
        let request = scene.request(in: 0.3)
        try scene.scheduler.submit(request)
        #expect(scene.endings.next() == [true])
        #expect(try #require(launchedAt.now.first) >= (try #require(request.earliestBeginDate)))
    }

    /// Dates refer to the wall clock, which is checked repeatedly, because it may be set.
    @Test func theWallClockMayBeSet() throws {
        let clock = WallClock()
        let scene = TaskScene(clock: { clock.now }, longestWait: 0.02)
        scene.register { $0.setTaskCompleted(success: true) }
        let request = AppRefreshTaskRequest(identifier: TaskScene.identifier)
        request.earliestBeginDate = clock.now + 3600
        try scene.scheduler.submit(request)
        Thread.sleep(forTimeInterval: 0.1)
        #expect(scene.endings.soFar.isEmpty)
        clock.move(by: 3600)
        #expect(scene.endings.next() == [true])
    }

    @Test func aTaskIsToldToStopShortlyBeforeItsAllowanceEnds() throws {
        // The lead is 5 s. On a busy machine a handler may be later than that, and the next task is looked at.
        for _ in 1...5 where try isToldToStopInTime() { return }
        Issue.record("no handler was called within the lead")
    }

    /// Returns whether the handler was called within the lead, and then checks what came of it.
    private func isToldToStopInTime() throws -> Bool {
        let scene = TaskScene(allowances: TaskAllowances(refresh: .seconds(30)))
        let begun = Box<UInt64>(0)
        let expired = Box<UInt64>(0)
        scene.register { task in
            begun.change { $0 = MonotonicTime.now }
            task.expirationHandler = {
                expired.change { $0 = MonotonicTime.now }
                scene.log.change { $0.append("expired") }
                task.setTaskCompleted(success: true)
            }
        }
        try scene.submit()
        let ending = scene.endings.next()
        guard expired.now > begun.now, expired.now - begun.now < 29_000_000_000 else { return false }
        // Completed within the lead, its own result counts.
        #expect(ending == [true])
        #expect(expired.now - begun.now > 23_900_000_000)
        #expect(scene.log.now == ["expired"])
        return true
    }

    @Test func anUncompletedTaskEndsWithoutSuccess() throws {
        let scene = TaskScene(allowances: TaskAllowances(refresh: .seconds(2)))
        let tasks = Box<[ScheduledTask]>([])
        let expired = Signal()
        scene.register { task in
            tasks.change { $0.append(task) }
            task.expirationHandler = { expired.fire() }
        }
        try scene.submit()
        #expect(scene.endings.next() == [false])
        #expect(expired.wait())
        tasks.now.first?.setTaskCompleted(success: true)
        scene.queue.waitUntilAllOperationsAreFinished()
        #expect(scene.endings.soFar == [false])
        // Its identifier is free again.
        try scene.submit()
        #expect(scene.endings.next() == [false, false])
    }

    /// Also without the queue's operation, whose timeout is the same.
    @Test func aRunEndsWithItsAllowanceByItself() {
        let endings = Endings()
        let run = TaskRun(RequestedTask("a", .refresh), allowance: .milliseconds(50)) { endings.note($0) }
        run.begin(TaskRegistration(queue: nil) { _ in })
        #expect(endings.next() == [false])
    }

    @Test func aProcessThatIsAboutToLeaveWaitsForTheTaskAndTellsItToStop() throws {
        let left = Signal()
        let backgroundTasks = BackgroundTasks { _, _ in left.fire() }
        backgroundTasks.expirationLead = 60
        let scene = TaskScene(backgroundTasks: backgroundTasks)
        let expired = Signal()
        let tasks = Box<[ScheduledTask]>([])
        scene.register { task in
            tasks.change { $0.append(task) }
            task.expirationHandler = { expired.fire() }
            if tasks.now.count == 1 { backgroundTasks.terminate() }
        }
        try scene.submit()
        #expect(expired.wait())
        #expect(!left.wait(seconds: 0.05))
        tasks.now.first?.setTaskCompleted(success: true)
        #expect(scene.endings.next() == [true])
        #expect(left.wait())
        // A task that is launched from now on is told to stop at once.
        try scene.submit()
        #expect(expired.wait())
        tasks.now.last?.setTaskCompleted(success: true)
        #expect(scene.endings.next() == [true, true])
    }

    @Test func processingTasksHaveTheirOwnAllowance() throws {
        let scene = TaskScene(allowances: TaskAllowances(refresh: .milliseconds(50), processing: .zero))
        let launched = Signal()
        let tasks = Box<[ScheduledTask]>([])
        scene.register { task in
            tasks.change { $0.append(task) }
            launched.fire()
        }
        try scene.scheduler.submit(ProcessingTaskRequest(identifier: TaskScene.identifier))
        #expect(launched.wait())
        Thread.sleep(forTimeInterval: 0.15)
        #expect(tasks.now.first?.isExpired == false)
        tasks.now.first?.setTaskCompleted(success: true)
        #expect(scene.endings.next() == [true])
    }

    @Test func anExpirationHandlerThatIsSetLateIsCalledAtOnceAndOnce() throws {
        let scene = TaskScene(allowances: TaskAllowances(refresh: .zero))
        scene.register { task in
            inTheGlobalQueue {
                scene.queue.cancelAllOperations()
                #expect(task.isExpired)
                task.expirationHandler = {
                    scene.log.change { $0.append("late") }
                    task.expirationHandler = { scene.log.change { $0.append("twice") } }
                    inTheGlobalQueue { task.setTaskCompleted(success: true) }
                }
            }
        }
        try scene.submit()
        #expect(scene.endings.next() == [true])
        #expect(scene.log.now == ["late"])
    }

    @Test func aCompletedTaskIsNotToldToStopAndIsLetGo() throws {
        let scene = TaskScene(allowances: TaskAllowances(refresh: .seconds(3_600)))
        weak var weakTask: ScheduledTask?
        let seen = Box<[ScheduledTask]>([])
        scene.register { task in
            seen.change { $0.append(task) }
            task.expirationHandler = {
                _ = task.identifier; scene.log.change { $0.append("expired") }
            }
            task.setTaskCompleted(success: true)
            task.expirationHandler = {
                _ = task.identifier; scene.log.change { $0.append("expired") }
            }
        }
        try scene.submit()
        #expect(scene.endings.next() == [true])
        scene.queue.waitUntilAllOperationsAreFinished()
        weakTask = seen.now.first
        #expect(weakTask != nil)
        seen.change { $0 = [] }
        // Its deadlines release it at once, and so cannot notify it.
        #expect(eventually { weakTask == nil })
        #expect(scene.log.now.isEmpty)
    }

    @Test func cancellingTheOperationTellsTheTaskToStop() throws {
        let scene = TaskScene(allowances: TaskAllowances(refresh: .zero))
        let launched = Signal()
        let expired = Signal()
        scene.register { task in
            task.expirationHandler = { expired.fire() }
            launched.fire()
        }
        try scene.submit()
        #expect(launched.wait())
        scene.queue.cancelAllOperations()
        // It ignores the expiration, and ends without success after five seconds.
        #expect(scene.endings.next() == [false])
        #expect(expired.wait())
    }
}
