import Foundation
import Testing

@testable import Backgroundable

@Suite struct BackgroundTasksTests {
    @Test func theRemainingTimeIsInfiniteUntilItIsAnnounced() {
        let stage = BackgroundTaskStage(grace: 100)
        let announced = Signal()
        let seconds = Box<[TimeInterval]>([])
        let hear: @Sendable (TimeInterval) -> Void = { remaining in
            seconds.change { $0.append(remaining) }
            announced.fire()
        }
        let task = stage.tasks.beginBackgroundTask()
        stage.tasks.onTermination(hear)
        stage.tasks.onTermination(hear)
        #expect(stage.tasks.backgroundTimeRemaining == .infinity)
        #expect(seconds.now == [])
        stage.terminate()
        #expect(announced.wait() && announced.wait())
        stage.tasks.onTermination(hear)
        #expect(seconds.now.count == 3)
        #expect(seconds.now.allSatisfy { $0 > 70 && $0 <= 100 })
        #expect(stage.tasks.backgroundTimeRemaining > 70 && stage.tasks.backgroundTimeRemaining <= 100)
        stage.terminate()
        stage.tasks.endBackgroundTask(task)
        #expect(stage.left.wait())
        #expect(seconds.now.count == 3)
        #expect(stage.departures.now == [.done])
    }

    @Test func theLastTaskThatEndsMakesItLeaveOnce() {
        let stage = BackgroundTaskStage()
        let tasks = (0..<3).map { _ in stage.tasks.beginBackgroundTask { stage.note("expired") } }
        stage.terminate()
        stage.tasks.endBackgroundTask(tasks[0])
        stage.tasks.endBackgroundTask(tasks[0])
        stage.tasks.endBackgroundTask(.invalid)
        stage.tasks.endBackgroundTask(tasks[2])
        #expect(!stage.left.wait(seconds: 0.1))
        stage.tasks.endBackgroundTask(tasks[1])
        #expect(stage.left.wait())
        stage.terminate()
        #expect(!stage.left.wait(seconds: 0.1))
        #expect(stage.departures.now == [.done])
        #expect(stage.log.now == [])
        #expect(stage.tasks.beginBackgroundTask() == .invalid)
    }

    @Test func itDoesNotLeaveWhileItIsBeingAnnounced() {
        let stage = BackgroundTaskStage()
        let held = Signal()
        let others = Signal()
        stage.tasks.onTermination { _ in _ = held.wait() }
        stage.tasks.onTermination { _ in others.fire() }
        stage.terminate()
        #expect(others.wait())
        stage.terminate()
        #expect(!stage.left.wait(seconds: 0.1))
        held.fire()
        #expect(stage.left.wait())
        #expect(stage.departures.now == [.done])
    }

    @Test func tasksExpireOnceNewestFirstAndNothingBeginsAfterwards() {
        let stage = BackgroundTaskStage(grace: 3_600, lead: 3_600)
        let expired = Signal()
        let tasks = (0..<5).map { number in
            stage.tasks.beginBackgroundTask(withName: "\(number)") {
                stage.note("\(number)")
                if number == 0 { expired.fire() }
            }
        }
        stage.tasks.endBackgroundTask(tasks[3])
        #expect(stage.tasks.taskNames == ["0", "1", "2", "4"])
        stage.terminate()
        #expect(expired.wait())
        #expect(stage.tasks.beginBackgroundTask() == .invalid)
        stage.terminate()
        #expect(!stage.left.wait(seconds: 0.1))
        #expect(stage.log.now == ["4", "2", "1", "0"])
        for task in tasks { stage.tasks.endBackgroundTask(task) }
        #expect(stage.left.wait())
        #expect(stage.departures.now == [.done])
    }

    @Test func aTaskThatEndsInItsHandlerHasEndedAndOneEndedByAnotherDoesNotExpire() {
        let stage = BackgroundTaskStage(grace: 3_600, lead: 3_600)
        let older = stage.tasks.beginBackgroundTask { stage.note("older") }
        let own = Box(BackgroundTaskIdentifier.invalid)
        let held = Signal()
        let newer = stage.tasks.beginBackgroundTask {
            stage.tasks.endBackgroundTask(older)
            stage.tasks.endBackgroundTask(own.now)
            stage.note("newer")
            _ = held.wait()
        }
        own.change { $0 = newer }
        stage.terminate()
        #expect(stage.left.wait())
        held.fire()
        #expect(stage.departures.now == [.done])
        #expect(!stage.log.now.contains("older"))
    }

    @Test func whenTimeIsUpItLeavesWhateverBlocks() {
        let stage = BackgroundTaskStage(grace: 1, lead: 0.9)
        let held = Signal()
        let others = Signal()
        let start = MonotonicTime.now
        stage.tasks.onTermination { _ in _ = held.wait() }
        _ = stage.tasks.beginBackgroundTask { others.fire() }
        _ = stage.tasks.beginBackgroundTask { _ = held.wait() }
        stage.terminate()
        #expect(others.wait())
        #expect(stage.left.wait())
        #expect(MonotonicTime.now - start >= 1_000_000_000)
        #expect(stage.departures.now == [.timeUp])
        #expect(stage.tasks.backgroundTimeRemaining == 0)
        held.fire()
        held.fire()
    }

    @Test func expirationComesBeforeTheEndByItsLead() {
        let stage = BackgroundTaskStage(grace: 1.5, lead: 0.5)
        let expired = Signal()
        let start = MonotonicTime.now
        _ = stage.tasks.beginBackgroundTask { expired.fire() }
        stage.terminate()
        #expect(expired.wait())
        #expect(MonotonicTime.now - start >= 1_000_000_000)
        #expect(stage.left.wait())
    }

    @Test func aProcessThatMayNotLeaveStays() {
        let stage = BackgroundTaskStage(grace: 0.1)
        stage.tasks.leavesOnTermination = false
        let expired = Signal()
        _ = stage.tasks.beginBackgroundTask { expired.fire() }
        stage.terminate()
        #expect(expired.wait())
        #expect(!stage.left.wait(seconds: 0.3))
    }

    @Test(arguments: [-1, .nan, -.infinity, 0] as [TimeInterval])
    func spansThatAreNoneAreZero(seconds: TimeInterval) {
        let stage = BackgroundTaskStage(grace: seconds, lead: seconds)
        #expect(stage.tasks.grace == 0 && stage.tasks.expirationLead == 0)
        _ = stage.tasks.beginBackgroundTask()
        stage.terminate()
        #expect(stage.left.wait())
        #expect(stage.departures.now == [.timeUp])
    }

    @Test func anInfiniteGraceEndsWithTheLastTask() {
        let stage = BackgroundTaskStage(grace: .infinity, lead: .infinity)
        let task = stage.tasks.beginBackgroundTask()
        stage.terminate()
        #expect(!stage.left.wait(seconds: 0.1))
        #expect(stage.tasks.backgroundTimeRemaining == .infinity)
        stage.tasks.endBackgroundTask(task)
        #expect(stage.left.wait())
        #expect(stage.departures.now == [.done])
    }

    @Test func anEndedTaskLetsGoOfItsHandlerOutsideTheLock() {
        final class Payload: Sendable {
            let tasks: BackgroundTasks
            init(_ tasks: BackgroundTasks) { self.tasks = tasks }
            deinit { tasks.endBackgroundTask(tasks.beginBackgroundTask()) }
        }
        let stage = BackgroundTaskStage()
        weak var payload: Payload?
        func begin() -> BackgroundTaskIdentifier {
            let captured = Payload(stage.tasks)
            payload = captured
            return stage.tasks.beginBackgroundTask { withExtendedLifetime(captured) {} }
        }
        let task = begin()
        #expect(payload != nil)
        stage.tasks.endBackgroundTask(task)
        #expect(payload == nil)
        #expect(stage.tasks.taskCount == 0)
    }

    @Test func manyThreadsBeginAndEndAtOnce() {
        let stage = BackgroundTaskStage()
        let all = Box<[BackgroundTaskIdentifier]>([])
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            var own: [BackgroundTaskIdentifier] = []
            for number in 0..<2_000 {
                own.append(stage.tasks.beginBackgroundTask {})
                if !number.isMultiple(of: 3) { stage.tasks.endBackgroundTask(own[own.count / 2]) }
            }
            for task in own { stage.tasks.endBackgroundTask(task) }
            all.change { [own] in $0 += own }
        }
        #expect(Set(all.now).count == 16_000)
        #expect(stage.tasks.taskCount == 0)
        stage.terminate()
        #expect(stage.left.wait())
        #expect(stage.departures.now == [.done])
    }

    @Test func namesThatWereWrittenForUIKitDo() {
        let task: UIBackgroundTaskIdentifier = UIBackgroundTaskInvalid
        #expect(task == .invalid && task.rawValue == 0)
    }
}
