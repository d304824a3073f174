import Errand
import ErrandRedis
import Foundation
import Synchronization
import TestSupport
import Testing

extension FaultTests {
    /// A server that dies and restarts with the data on its disk.
    @Suite struct RestartedServer {
        @Test func nothingAcceptedIsLostThoughTheServerIsKilled() async throws {
            var random = SeededRandom(for: "nothingAcceptedIsLostThoughTheServerIsKilled")
            let restarts = FaultProfile.size(quick: 5, full: 30)
            let server = try RedisServer(tcp: true, durable: true)
            try await FaultScene.play(server) { scene in
                let workers = [
                    try await scene.worker(via: server.tcpURL), try await scene.worker(via: server.tcpURL),
                ]
                let record = PushRecord()
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for size in [1, 1, 1, 10] {
                        let broker = try FaultScene.connect(server.tcpURL, patience: .milliseconds(200))
                        group.addTask {
                            defer { broker.close() }
                            try await record.pushes(of: size, through: Producer(broker: broker))
                        }
                    }
                    for round in 0..<restarts {
                        try await Task.sleep(for: .milliseconds(Int.random(in: 300...1200, using: &random)))
                        try await kill(server, whileAsked: round % 2 == 0)
                        // Once certainly longer than the producers' time limit.
                        let away = round == 0 ? 1000 : Int.random(in: 0...600, using: &random)
                        try await Task.sleep(for: .milliseconds(away))
                        try server.start()
                    }
                    try await Task.sleep(for: .milliseconds(300))
                    record.end()
                    try await group.waitForAll()
                }
                try await scene.drain(within: .seconds(120))
                try await check(record, workers, scene)
            }
        }

        /// Kills the server, on request at a moment at which it has certainly not replied to all requests.
        private func kill(_ server: RedisServer, whileAsked: Bool) async throws {
            if whileAsked {
                server.kill(SIGSTOP)
                try await Task.sleep(for: .milliseconds(150))
            }
            server.kill(SIGKILL)
        }

        private func check(_ record: PushRecord, _ workers: [Program], _ scene: FaultScene) async throws {
            let ids = record.ids
            let totals = try await scene.status().totals
            // The faults reached the producers: replies were lost, and pushes found no server.
            #expect(record.unknown > 0)
            #expect(record.notReachable > 0)
            #expect(Set(ids).count == ids.count)
            #expect(totals["pushed"] == ids.count)
            #expect(totals["finished"] == ids.count)
            #expect(try await scene.unfinished(ids).isEmpty)
            #expect(Set(scene.ledger.counts("begin").keys) == Set(ids))
            #expect(workers.allSatisfy { $0.isRunning })
            #expect(try await scene.findings().isEmpty)
            #expect(try await scene.stop(workers) == [0, 0])
            #expect(try scene.keys().filter { !FaultScene.mayBeLeft($0) }.isEmpty)
        }

        /// A server that was away for two leases: no worker loses its running jobs.
        @Test func jobsThatRunThroughAnOutageAreNotRunTwice() async throws {
            let server = try RedisServer(tcp: true, durable: true)
            try await FaultScene.play(server) { scene in
                let workers = [
                    try await scene.worker(concurrency: 3, via: server.tcpURL),
                    try await scene.worker(concurrency: 3, via: server.tcpURL),
                ]
                let ids = try await scene.pushMany(6, "note", ["seconds": "7"])
                try await eventually("six jobs run") { scene.ledger.counts("begin").count == 6 }
                server.kill(SIGKILL)
                try await Task.sleep(for: .seconds(4))
                try server.start()
                try await scene.drain()
                #expect(scene.ledger.counts("begin") == Dictionary(uniqueKeysWithValues: ids.map { ($0, 1) }))
                #expect(try await scene.unfinished(ids).isEmpty)
                let totals = try await scene.status().totals
                #expect(totals["recovered"] == 0 && totals["finished"] == 6)
                #expect(workers.allSatisfy { scene.sessions(of: $0).count == 1 })
                #expect(try await scene.findings().isEmpty)
            }
        }

        /// Every worker is cut off for two leases; the first call afterwards is a recovery.
        @Test func theFirstRecoveryAfterAPartitionTakesNoJobsFromLiveWorkers() async throws {
            try await FaultScene.play { scene in
                let proxy = try ChaosProxy(to: scene.server)
                defer { proxy.close() }
                let worker = try await scene.worker(via: proxy.url)
                let ids = try await scene.pushMany(4, "note", ["seconds": "7"])
                try await eventually("four jobs run") { scene.ledger.counts("begin").count == 4 }
                proxy.cut(true)
                try await Task.sleep(for: .seconds(4))
                let recovery = try await scene.broker.recover(on: FaultScene.queue)
                #expect(recovery.recovered == 0)
                proxy.cut(false)
                try await scene.drain()
                #expect(scene.ledger.counts("begin") == Dictionary(uniqueKeysWithValues: ids.map { ($0, 1) }))
                #expect(try await scene.status().totals["recovered"] == 0)
                #expect(scene.sessions(of: worker).count == 1)
                #expect(try await scene.findings().isEmpty)
            }
        }
    }
}

/// Endless pushes, each repeated until its outcome is known, and their outcomes.
private final class PushRecord: Sendable {
    private struct State {
        var ids: [String] = []
        var unknown = 0
        var notReachable = 0
        var isOver = false
    }

    private let state = Mutex(State())

    var ids: [String] { state.withLock(\.ids) }
    var unknown: Int { state.withLock(\.unknown) }
    var notReachable: Int { state.withLock(\.notReachable) }

    func end() { state.withLock { $0.isOver = true } }

    func pushes(of size: Int, through producer: Producer) async throws {
        while !state.withLock(\.isOver) {
            let jobs = try (0..<size).map { _ in
                try OperationDescription("mark", queue: FaultScene.queue).makeEnvelope()
            }
            try await push(jobs, through: producer)
            state.withLock { $0.ids += jobs.map(\.id) }
            try await Task.sleep(for: .milliseconds(50 + 30 * size))
        }
    }

    private func push(_ jobs: [JobEnvelope], through producer: Producer) async throws {
        while true {
            do throws(BrokerError) {
                let receipts = try await producer.push(envelopes: jobs)
                let unknown = receipts.filter { $0.outcome == .unknown }.count
                state.withLock { $0.unknown += unknown }
                if unknown == 0 {
                    #expect(receipts.allSatisfy { $0.outcome == .accepted || $0.outcome == .exists })
                    return
                }
            } catch {
                #expect(error.code == .notReachable, "\(error)")
                guard error.code == .notReachable else { throw error }
                state.withLock { $0.notReachable += 1 }
            }
            try await Task.sleep(for: .milliseconds(20))
        }
    }
}
