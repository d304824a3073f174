import Errand
import ErrandRedis
import Foundation
import Logging
import TestSupport
import Testing

/// A server, a catalogue whose commands hold a lock while any of their processes is alive, and workers to stop.
final class StopFixture: Sendable {
    /// The action of a command and its children once it has its lock.
    enum Command: String, CaseIterable {
        /// Ends when it is asked to.
        case plain
        /// Ignores SIGTERM.
        case deaf
        /// Has children and grandchildren that ignore SIGTERM, too.
        case family
    }

    /// An immediate stop takes a small part of this, even on a busy machine.
    static let grace = Duration.seconds(80)

    let server: RedisServer
    let broker: RedisBroker
    private let catalogue: String

    /// - Parameter address: The address of the web call of the operation `call`.
    init(_ server: RedisServer, calling address: String = "http://127.0.0.1:9/") throws {
        self.server = server
        broker = RedisBroker(try RedisAddress(url: server.url), logger: Logger(label: "test"))
        catalogue = server.directory + "/catalogue.yaml"
        // A second concurrent run fails at once with a status of its own.
        let locked = #"flock, -n, -E, "9", "{lock}", sh, -c"#
        try """
        operations:
          plain: {run: [\(locked), "exec sleep {s}"], retries: 0, timeout: 5m}
          deaf: {run: [\(locked), "trap '' TERM INT HUP; while :; do sleep 1; done"], retries: 0, timeout: 5m}
          family:
            run: [\(locked), "trap '' TERM; sh -c 'trap \\"\\" TERM; sleep 1000 & sleep 1000' & sleep 1000 & wait"]
            retries: 0
            timeout: 5m
          call: {http: {url: "\(address)"}, retries: 0, timeout: 5m}
        """.write(toFile: catalogue, atomically: true, encoding: .utf8)
    }

    deinit { broker.close() }

    func worker(
        _ more: [String] = [],
        lease: String = "10s",
        grace: Duration = grace,
        shell: String? = nil
    ) throws -> RunningExecutable {
        let grace = "\(grace.components.seconds)s"
        let arguments = ["--catalogue", catalogue, "--lease", lease, "--grace", grace, "--json"] + more
        return try RunningExecutable(.worker, arguments, environment: ["ERRAND_REDIS_URL": server.url], shell: shell)
    }

    /// Pushes a job that runs for this many seconds unless it is stopped.
    func push(_ command: Command, lock: String = "lock", seconds: Double = 1000) async throws {
        let arguments = #"{"lock":"\#(server.directory)/\#(lock)","s":\#(seconds)}"#
        #expect(try await Executable.producer.run(["push", command.rawValue, arguments], on: server).status == 0)
    }

    /// Whether a process of the job's command is alive.
    func lives(_ lock: String = "lock") -> Bool {
        let file = open(server.directory + "/" + lock, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(file) }
        return flock(file, LOCK_EX | LOCK_NB) != 0
    }

    func begin(_ lock: String = "lock") async throws {
        try await eventually("the command of \(lock) runs") { self.lives(lock) }
    }

    var status: QueueStatus { get async throws { try await broker.status(of: "default").queue } }

    /// Checks that this many jobs have returned to their positions and spent nothing.
    func expectUntouched(_ count: Int = 1, released: Int) async throws {
        let status = try await status
        #expect(status.ready == count && status.running == 0 && status.dead == 0, "\(status)")
        let totals = status.totals
        #expect(totals["released"] == released && totals["failed"] == 0 && totals["recovered"] == 0, "\(totals)")
        #expect(try server.run("EXISTS", "errand:{default}:crashes", "errand:{default}:failures") == "0")
    }
}
