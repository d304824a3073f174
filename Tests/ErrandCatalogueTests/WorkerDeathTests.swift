import CErrandChild
import Foundation
import Testing

@testable import ErrandCatalogue

/// However a worker ends, the process groups of its children end too.
@Suite(.timeLimit(.minutes(6)))
struct WorkerDeathTests {
    private static let family = "trap '' TERM; sh -c 'sleep 1000 & sleep 1000' & sleep 1000 & echo ready >&3; wait"

    /// Starts a worker with a family of children.
    private func start(
        _ script: String = family,
        environment: [String: String] = [:]
    ) async throws -> (Probe, Fifo) {
        let fifo = try Fifo()
        let probe = try Probe(environment: environment)
        probe.run("exec 3>\(fifo.path); \(script)")
        #expect(try await fifo.line() == "ready")
        #expect(!fifo.isAtEnd)
        return (probe, fifo)
    }

    @Test func killedWorker() async throws {
        let (probe, fifo) = try await start()
        probe.killHard()
        try await fifo.end()
    }

    @Test func exitingWorker() async throws {
        let (probe, fifo) = try await start()
        probe.exit()
        try await fifo.end()
    }

    @Test func killedWorkerWhoseCommandHasEndedBeforeItsFamily() async throws {
        // The family holds the output open, so the command is still being waited for.
        let (probe, fifo) = try await start("(sleep 1000 & echo ready >&3; wait) & exit 0")
        probe.killHard()
        try await fifo.end()
    }

    @Test func killedReaperIsReplaced() async throws {
        let (probe, fifo) = try await start()
        let first = try probe.reaper()
        let pidfd = errand_child_pidfd(first)
        kill(first, SIGKILL)
        try await end(of: pidfd)
        // The second child does not start without a reaper, which then knows the first child too.
        probe.run("exec 3>\(fifo.path); echo again >&3; sleep 1000 & wait")
        #expect(try await fifo.line() == "again")
        #expect(try probe.reaper() != first)
        probe.killHard()
        try await fifo.end()
    }

    @Test func reaperHasATitleOfItsOwnAndNoSecrets() async throws {
        let (probe, fifo) = try await start(environment: ["ERRAND_REDIS_URL": "redis://:secret@127.0.0.1"])
        let reaper = try probe.reaper()
        let title = try Data(contentsOf: URL(fileURLWithPath: "/proc/\(reaper)/cmdline")).prefix { $0 != 0 }
        #expect(String(decoding: title, as: UTF8.self).hasPrefix("errand-reaper"))
        let environment = try Data(contentsOf: URL(fileURLWithPath: "/proc/\(reaper)/environ"))
        #expect(!String(decoding: environment, as: UTF8.self).contains("secret"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: "/proc/\(reaper)/fd").count == 1)
        probe.killHard()
        try await fifo.end()
    }

    @Test func childrenDoNotSeeTheBroker() async throws {
        let url = "redis://:secret@127.0.0.1"
        let (probe, fifo) = try await start(
            "echo ready >&3; echo \"<$ERRAND_REDIS_URL$REDIS_URL$ERRAND_HOME>\" >&3; sleep 1000",
            environment: ["ERRAND_REDIS_URL": url, "REDIS_URL": url, "ERRAND_HOME": "/kept"]
        )
        #expect(try await fifo.line() == "</kept>")
        probe.exit()
        try await fifo.end()
    }

    @Test func reaperEndsWithItsWorker() async throws {
        let (probe, fifo) = try await start()
        let reaper = try probe.reaper()
        let pidfd = errand_child_pidfd(reaper)
        probe.exit()
        try await fifo.end()
        try await end(of: pidfd)
    }

    /// Waits for the end of a process that is not ours.
    private func end(of pidfd: Int32) async throws {
        guard pidfd >= 0 else { throw TestError("no pidfd") }
        defer { close(pidfd) }
        let ready = try await onThread {
            var state = pollfd(fd: pidfd, events: Int16(POLLIN), revents: 0)
            return poll(&state, 1, 20_000)
        }
        #expect(ready == 1)
    }
}
