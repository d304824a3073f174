#if os(Linux)
    import Errand
    import Foundation
    import Logging
    import TestSupport
    import Testing

    @testable import ErrandRedis

    /// A server that syncs its file every second acknowledges the first write for which its disk has no room.
    @Suite("Pushes to a server whose disk is full", .timeLimit(.minutes(6)))
    struct FullDiskTests {
        private let server: RedisServer

        init() throws {
            // To the server, a file that may not grow is a full disk.
            let limit = ["sh", "-c", "trap '' XFSZ; ulimit -S -f 2000; exec \"$@\"", "sh"]
            server = try RedisServer(prefix: limit, ["--appendonly", "yes", "--appendfsync", "everysec"])
        }

        private func broker(confirmsWrites: Bool?) throws -> RedisBroker {
            let options = ConnectionOptions(patience: .milliseconds(200), confirmsWrites: confirmsWrites)
            return RedisBroker(try RedisAddress(url: server.url), options: options, logger: Logger(label: "full"))
        }

        private func push(_ number: Int, to broker: RedisBroker) async throws -> Receipt.Outcome {
            let large = String(repeating: "x", count: 300_000)
            return try await Producer(broker: broker)
                .push(OperationDescription("work", encoding: [large], id: "job-\(number)")).outcome
        }

        private func makeRoom() throws {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            process.arguments = ["prlimit", "--pid", "\(server.pid)", "--fsize=unlimited"]
            try process.start()
            process.waitUntilExit()
            #expect(process.terminationStatus == 0)
        }

        @Test("the first unwritten push is unknown, the ones after it are rejected, and no accepted job is lost")
        func areConfirmed() async throws {
            let broker = try broker(confirmsWrites: true)
            defer { broker.close() }
            var number = 0
            while case let outcome = try await push(number, to: broker), outcome != .unknown {
                #expect(outcome == .accepted)
                number += 1
                try #require(number < 10, "the disk is never full")
            }
            #expect(number > 0)
            let refused = await #expect(throws: BrokerError.self) { try await push(number + 1, to: broker) }
            #expect(refused?.code == .notReachable)
            #expect(refused?.message.contains("disk") == true, "\(refused?.message ?? "")")
            let setting = await #expect(throws: BrokerError.self) {
                try await broker.configure("default", QueueSettings(isPaused: true))
            }
            #expect(setting?.message.contains("disk") == true)
            // Reads continue.
            try await broker.ping()
            #expect(try await broker.status(of: "default").queue.ready == number + 1)
            try makeRoom()
            try await eventually("the server writes again") {
                try server.run("INFO", "persistence").contains("aof_last_write_status:ok")
            }
            #expect(try await push(number, to: broker) == .exists)
            server.kill(SIGKILL)
            try server.start()
            #expect(try await broker.status(of: "default").queue.ready == number + 1)
        }
    }
#endif
