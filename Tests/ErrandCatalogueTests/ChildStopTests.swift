import Foundation
import Testing

@testable import ErrandCatalogue

/// Cancelling a task ends the whole process group, and the task ends only then.
@Suite(.timeLimit(.minutes(6)))
struct ChildStopTests {
    /// Starts a script that says a line when it is ready, cancels it, and checks that nobody is left at its end.
    ///
    /// A long grace, so that what needed SIGKILL is told from what was only slow.
    private func stop(
        _ script: String,
        grace: Duration = .seconds(60)
    ) async throws -> (result: ChildResult, time: Duration) {
        let fifo = try Fifo()
        let child = Task { await shell("exec 3>\(fifo.path); \(script)", stopGrace: grace) }
        #expect(try await fifo.line() == "ready")
        let start = ContinuousClock.now
        child.cancel()
        let result = await child.value
        let time = ContinuousClock.now - start
        #expect(fifo.isAtEnd, "something of the group is alive")
        #expect(result.stopped)
        return (result, time)
    }

    @Test func endsACommandThatListens() async throws {
        let (result, time) = try await stop("echo ready >&3; exec sleep 1000")
        #expect(result.ending == .signalled(SIGTERM))
        #expect(time < .seconds(60))
    }

    @Test func killsACommandThatDoesNotListenAfterTheGrace() async throws {
        let (result, time) = try await stop(
            "trap '' TERM; echo ready >&3; while :; do sleep 1000; done",
            grace: .seconds(2)
        )
        #expect(result.ending == .signalled(SIGKILL))
        #expect(time >= .seconds(2))
    }

    @Test func endsGrandchildren() async throws {
        let (result, time) = try await stop("sh -c 'sleep 1000 & sleep 1000' & sleep 1000 & echo ready >&3; wait")
        #expect(result.ending == .signalled(SIGTERM))
        #expect(time < .seconds(60))
    }

    @Test func killsGrandchildrenThatOutliveTheCommand() async throws {
        let (result, time) = try await stop(
            "(trap '' TERM; echo ready >&3; while :; do sleep 1000; done) & wait",
            grace: .seconds(2)
        )
        #expect(result.ending == .signalled(SIGTERM))
        #expect(time >= .seconds(2))
    }

    @Test func endsASuspendedCommand() async throws {
        let (result, time) = try await stop("echo ready >&3; kill -STOP $$; sleep 1000")
        #expect(result.ending == .signalled(SIGTERM))
        #expect(time < .seconds(60))
    }

    @Test func keepsWhatACommandSaysWhileItStops() async throws {
        let (result, _) = try await stop("trap 'echo bye; exit 3' TERM; echo ready >&3; sleep 1000 & wait")
        #expect(result.ending == .exited(3))
        #expect(result.output == Array("bye\n".utf8))
    }

    @Test func doesNotStartWhatIsCancelledBefore() async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("started-\(UUID().uuidString)").path
        let child = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await shell("touch \(file)")
        }
        let result = await child.value
        #expect(result.stopped)
        #expect(!FileManager.default.fileExists(atPath: file))
    }

    @Test func `ends all at once, with what takes no notice, and starts nothing more`() async throws {
        let (children, fifo) = (ChildProcesses(), try Fifo())
        let script = "exec 3>\(fifo.path); trap '' TERM; (trap '' TERM; sleep 1000 & sleep 1000) & echo ready >&3; wait"
        var command = ChildCommand(["sh", "-c", script])
        command.stopGrace = .seconds(60)
        let running = Task { [command] in await children.run(command) }
        #expect(try await fifo.line() == "ready")
        #expect(await children.endAll(within: .seconds(20)))
        #expect(fifo.isAtEnd, "something of the group is alive")
        #expect(await running.value.stopped)
        #expect(await children.run(ChildCommand(["true"])).stopped)
    }

    @Test func leavesOthersAlone() async throws {
        let fifo = try Fifo()
        let other = Task { await shell("exec 3>\(fifo.path); echo ready >&3; read line < \(fifo.path)-in; echo done") }
        guard mkfifo(fifo.path + "-in", 0o600) == 0 else { throw TestError("mkfifo") }
        defer { unlink(fifo.path + "-in") }
        _ = try await fifo.line()
        _ = try await stop("echo ready >&3; exec sleep 1000")
        let path = fifo.path
        try await onThread { try Data("go\n".utf8).write(to: URL(fileURLWithPath: path + "-in")) }
        #expect(await other.value.output == Array("done\n".utf8))
    }
}
