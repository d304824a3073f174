import Errand
import ErrandRedis
import Foundation
import TestSupport
import Testing

extension FaultTests {
    /// Interventions of an operator or another program on the server during work.
    @Suite struct ServerTrouble {
        @Test func scriptsAreLostAllTheTime() async throws {
            try await endure(every: .milliseconds(50)) { server in
                try server.run("SCRIPT", "FLUSH")
            } happened: { server in
                try count("cmdstat_eval:", in: server.run("INFO", "commandstats"))
            }
        }

        @Test func connectionsAreClosedAllTheTime() async throws {
            try await endure(every: .milliseconds(200)) { server in
                try server.run("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
            } happened: { server in
                try count("cmdstat_client|setname:", in: server.run("INFO", "commandstats"))
            }
        }

        @Test func subscriptionsAreClosedAllTheTime() async throws {
            try await endure(every: .milliseconds(200)) { server in
                try server.run("CLIENT", "KILL", "TYPE", "pubsub")
            } happened: { server in
                try count("cmdstat_subscribe:", in: server.run("INFO", "commandstats"))
            }
        }

        /// The number of calls in a line of the server's statistics.
        private func count(_ command: String, in statistics: String) throws -> Int {
            let line = statistics.split(whereSeparator: \.isNewline).first { $0.hasPrefix(command) } ?? ""
            return line.split(separator: "=").dropFirst().first.flatMap { Int($0.prefix { $0.isNumber }) } ?? 0
        }

        /// Pushes and runs jobs one by one while something happens repeatedly.
        private func endure(
            every pause: Duration,
            _ trouble: @escaping @Sendable (RedisServer) throws -> String,
            happened: (RedisServer) throws -> Int
        ) async throws {
            try await FaultScene.play { scene in
                let workers = [try await scene.worker(), try await scene.worker()]
                let before = try happened(scene.server)
                let ids = try await withThrowingTaskGroup(of: [String].self) { group in
                    let troubling = Task { [server = scene.server] in
                        while !Task.isCancelled {
                            _ = try trouble(server)
                            try? await Task.sleep(for: pause)
                        }
                    }
                    defer { troubling.cancel() }
                    group.addTask { try await self.push(FaultProfile.size(quick: 60, full: 1500), scene) }
                    return try await group.next() ?? []
                }
                try await scene.drain()
                #expect(try happened(scene.server) > before + 10)
                let totals = try await scene.status().totals
                #expect(totals["pushed"] == ids.count)
                #expect(totals["finished"] == ids.count)
                #expect(totals["recovered"] == 0)
                #expect(try await scene.unfinished(ids).isEmpty)
                #expect(scene.ledger.counts("begin") == Dictionary(uniqueKeysWithValues: ids.map { ($0, 1) }))
                #expect(workers.allSatisfy { $0.isRunning && scene.sessions(of: $0).count == 1 })
                #expect(try await scene.stop(workers) == [0, 0])
                #expect(try await scene.findings().isEmpty)
                #expect(try scene.keys().filter { !FaultScene.mayBeLeft($0) }.isEmpty)
            }
        }

        private func push(_ count: Int, _ scene: FaultScene) async throws -> [String] {
            var ids: [String] = []
            for _ in 0..<count {
                let job = try OperationDescription("mark", queue: FaultScene.queue).makeEnvelope()
                var receipt: Receipt
                repeat {
                    receipt = try await scene.producer.push(envelopes: [job])[0]
                } while receipt.outcome == .unknown
                #expect(receipt.outcome == .accepted || receipt.outcome == .exists)
                ids.append(job.id)
                try await Task.sleep(for: .milliseconds(40))
            }
            return ids
        }
    }
}
