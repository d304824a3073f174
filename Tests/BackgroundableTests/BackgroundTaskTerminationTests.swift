import Foundation
import Testing

/// Real processes that are really terminated.
@Suite struct BackgroundTaskTerminationTests {
    @Test func anIdleProcessLeavesAtOnce() throws {
        let probe = try BackgroundTaskProbe("idle")
        probe.terminate()
        #expect(probe.ending() == "exit 0")
        #expect(probe.said == ["announced 25", "exit handlers run"])
    }

    /// Busy with a task of its own, or with a background queue.
    @Test(arguments: ["busy", "queue"])
    func aBusyProcessLeavesWhenItsWorkHasEnded(way: String) throws {
        let probe = try BackgroundTaskProbe(way)
        probe.terminate()
        #expect(probe.says("announced 25"))
        #expect(probe.ending(within: 0.3) == "none")
        probe.finish()
        #expect(probe.ending() == "exit 0")
        #expect(probe.said == ["announced 25", "done"])
    }

    @Test func aBackgroundQueueCancelsItsOperationsWhenTimeIsNearlyUp() throws {
        let probe = try BackgroundTaskProbe("queue-overfull")
        probe.terminate()
        #expect(probe.ending() == "exit 0")
        #expect(probe.said.first == "announced 2" && Set(probe.said.dropFirst()) == ["cancelled 0", "cancelled 1"])
    }

    @Test func aBackgroundQueueMayHoldNothing() throws {
        let probe = try BackgroundTaskProbe("queue-without-hold")
        probe.terminate()
        #expect(probe.ending() == "exit 0")
        #expect(probe.said == ["announced 25", "exit handlers run"])
    }

    /// Handlers hang, exit handlers hang, and so does every pool thread.
    @Test func aStuckProcessLeavesWhenTimeIsUp() throws {
        let probe = try BackgroundTaskProbe("stuck")
        let start = ContinuousClock.now
        probe.terminate()
        #expect(probe.ending() == "exit 143")
        #expect(ContinuousClock.now - start >= .seconds(2))
        #expect(probe.said == ["announced 2", "expired second", "expired first"])
    }

    @Test func aSecondSignalEndsItAtOnce() throws {
        let probe = try BackgroundTaskProbe("busy")
        probe.terminate()
        #expect(probe.says("announced 25"))
        let start = ContinuousClock.now
        probe.terminate()
        #expect(probe.ending() == "exit 143")
        #expect(ContinuousClock.now - start < .seconds(15))
    }

    @Test(arguments: ["untouched", "declining-before", "declining-after"])
    func aProcessThatDeclinesDiesOfTheSignal(way: String) throws {
        let probe = try BackgroundTaskProbe(way)
        probe.terminate()
        #expect(probe.ending() == "signal 15")
        #expect(probe.said == [])
    }

    @Test func aProcessMayChangeItsMind() throws {
        let probe = try BackgroundTaskProbe("declining-for-a-while")
        probe.terminate()
        #expect(probe.ending() == "exit 143")
        #expect(probe.said == ["announced 1"])
    }

    @Test(arguments: ["handling", "handling-later", "handling-with-source"])
    func aProcessThatHandlesTheSignalItselfIsLeftAlone(way: String) throws {
        let probe = try BackgroundTaskProbe(way)
        probe.terminate()
        #expect(probe.ending() == "exit 3")
        #expect(probe.said == [])
    }

    /// The thread sanitizer holds signals back in the forked child of a process with several threads.
    private static let waysToHaveAChild =
        ProcessInfo.processInfo.environment["TSAN_OPTIONS"] == nil ? ["parent", "forking"] : ["parent"]

    @Test(arguments: waysToHaveAChild)
    func itsChildrenDieOfTheSignal(way: String) throws {
        let probe = try BackgroundTaskProbe(way)
        let child = try #require(probe.child)
        kill(child, SIGTERM)
        let died = probe.says("child ended by signal")
        #expect(died)
        if !died { kill(child, SIGKILL) }
        #expect(probe.said == ["child \(child)", "child ended by signal"])
    }
}
