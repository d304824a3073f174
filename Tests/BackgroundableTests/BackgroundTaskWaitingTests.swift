import Foundation
import Testing

@testable import Backgroundable

@Suite struct BackgroundTaskWaitingTests {
    @Test func aWaitEndsAsSoonAsEveryTaskHasEnded() async {
        let stage = BackgroundTaskStage(lead: 5)
        let seconds = Box<[TimeInterval]>([])
        let task = stage.tasks.beginBackgroundTask { stage.note("expired") }
        stage.tasks.onTermination { remaining in
            seconds.change { $0.append(remaining) }
            stage.tasks.endBackgroundTask(task)
        }
        #expect(await stage.tasks.waitForAll(within: .seconds(300)))
        #expect(seconds.now.count == 1)
        #expect(seconds.now.allSatisfy { $0 > 270 && $0 <= 300 })
        #expect(stage.log.now == [])
        #expect(stage.departures.now == [])
    }

    @Test func aWaitThatTimesOutReportsThatTasksAreLeft() async {
        let stage = BackgroundTaskStage(lead: 0.5)
        let expired = Signal()
        let task = stage.tasks.beginBackgroundTask { expired.fire() }
        let start = MonotonicTime.now
        #expect(await !stage.tasks.waitForAll(within: .seconds(1)))
        #expect(MonotonicTime.now - start >= 1_000_000_000)
        #expect(wait(for: expired))
        #expect(stage.tasks.beginBackgroundTask() == .invalid)
        #expect(stage.departures.now == [])
        #expect(await !stage.tasks.waitForAll(within: .seconds(300)))
        stage.tasks.endBackgroundTask(task)
        #expect(await stage.tasks.waitForAll(within: .seconds(300)))
    }

    @Test func aHandlerThatEndsItsTaskEndsTheWait() async {
        let stage = BackgroundTaskStage(lead: 300)
        let own = Box(BackgroundTaskIdentifier.invalid)
        let task = stage.tasks.beginBackgroundTask { stage.tasks.endBackgroundTask(own.now) }
        own.change { $0 = task }
        #expect(await stage.tasks.waitForAll(within: .seconds(300)))
    }

    @Test func theShortestTimeAppliesToAll() async {
        let stage = BackgroundTaskStage()
        _ = stage.tasks.beginBackgroundTask()
        async let long = stage.tasks.waitForAll(within: .seconds(3_000))
        async let short = stage.tasks.waitForAll(within: .milliseconds(200))
        #expect(await !short)
        #expect(await !long)
    }

    @Test func aCancelledWaitEnds() async {
        let stage = BackgroundTaskStage()
        let task = stage.tasks.beginBackgroundTask()
        let waiting = Task { await stage.tasks.waitForAll(within: .seconds(3_000)) }
        while stage.tasks.backgroundTimeRemaining == .infinity { await Task.yield() }
        waiting.cancel()
        #expect(await !waiting.value)
        let late = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await stage.tasks.waitForAll(within: .seconds(3_000))
        }
        #expect(await !late.value)
        stage.tasks.endBackgroundTask(task)
    }

    @Test func aSignalDuringAWaitMakesTheProcessLeave() async {
        let stage = BackgroundTaskStage(grace: 0.2)
        _ = stage.tasks.beginBackgroundTask()
        async let answer = stage.tasks.waitForAll(within: .seconds(3_000))
        while stage.tasks.backgroundTimeRemaining == .infinity { await Task.yield() }
        stage.terminate()
        #expect(await !answer)
        #expect(wait(for: stage.left))
        #expect(stage.departures.now == [.timeUp])
    }

    /// Blocks, in a function that is not asynchronous.
    private func wait(for signal: Signal) -> Bool {
        signal.wait()
    }
}
