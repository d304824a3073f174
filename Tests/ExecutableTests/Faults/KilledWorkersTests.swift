import Errand
import ErrandRedis
import Foundation
import TestSupport
import Testing

extension FaultTests {
    /// Workers that are killed.
    @Suite struct KilledWorkers {
        /// One worker a second is killed with all its children; another takes its place.
        @Test func everyJobEndsThoughWorkersAreKilled() async throws {
            var random = SeededRandom(for: "everyJobEndsThoughWorkersAreKilled")
            let count = FaultProfile.size(quick: 150, full: 1000)
            try await FaultScene.play { scene in
                let ids = try await push(count, in: scene)
                var workers: [Program] = []
                for _ in 0..<3 { workers.append(try await scene.worker()) }
                var kills = 0
                while try await scene.status().totals["finished"] < count * 9 / 10 {
                    let victim = Int.random(in: workers.indices, using: &random)
                    // The first victim certainly holds jobs.
                    if kills == 0 { try await holding(workers[victim], scene) }
                    try await workers[victim].killTree()
                    kills += 1
                    workers[victim] = try await scene.worker()
                    try await Task.sleep(for: .seconds(1))
                }
                try await scene.drain(within: .seconds(120))
                try await check(ids, scene)
                #expect(kills > 1)
                #expect(try await scene.stop(workers) == [0, 0, 0])
                #expect(try await scene.findings().isEmpty)
                #expect(try scene.keys().filter { !FaultScene.mayBeLeft($0) }.isEmpty)
            }
        }

        /// Half of the jobs have unique names of their own.
        private func push(_ count: Int, in scene: FaultScene) async throws -> [String] {
            let jobs = try (0..<count).map { number in
                try OperationDescription(
                    "note",
                    arguments: ["seconds": "0.4"],
                    queue: FaultScene.queue,
                    name: number % 2 == 0 ? "job \(number)" : nil,
                    unique: number % 2 == 0 ? .drop : .ignore
                )
            }
            let receipts = try await scene.producer.push(contentsOf: jobs)
            #expect(receipts.allSatisfy { $0.outcome == .accepted })
            return receipts.map(\.id)
        }

        private func holding(_ worker: Program, _ scene: FaultScene) async throws {
            try await eventually("the worker holds jobs") {
                let sessions = try await scene.broker.status(of: FaultScene.queue).sessions
                return sessions.contains { $0.pid == Int(worker.pid) && $0.running > 0 }
            }
        }

        private func check(_ ids: [String], _ scene: FaultScene) async throws {
            let status = try await scene.status()
            #expect(status.totals["finished"] == ids.count)
            #expect(status.dead == 0)
            #expect(status.totals["recovered"] > 0)
            #expect(try await scene.unfinished(ids).isEmpty)
            let begun = scene.ledger.counts("begin")
            #expect(Set(begun.keys) == Set(ids))
            #expect(Set(scene.ledger.counts("end").keys) == Set(ids))
            // The kills reached jobs: some began more than once.
            #expect(begun.values.contains { $0 > 1 })
            #expect(try await scene.findings().isEmpty)
            #expect(try scene.keys().isDisjoint(with: ["unique", "unique:of", "running", "successors", "stops"]))
        }

        /// Only the worker is killed, and its children do not outlive it.
        @Test func childrenDieWithTheirWorker() async throws {
            try await FaultScene.play { scene in
                _ = try await scene.pushMany(2, "family")
                let worker = try await scene.worker()
                try await eventually("two families live") { scene.ledger.counts("grandchild").count == 2 }
                let family = ProcessTree.descendants(of: worker.pid)
                let reported = (scene.ledger.all("child") + scene.ledger.all("grandchild")).compactMap { Int32($0[0]) }
                #expect(reported.count == 4)
                #expect(Set(reported).isSubset(of: family))
                worker.signal(SIGKILL)
                #expect(try await worker.end() == 128 + SIGKILL)
                try await eventually("children and grandchildren are gone", within: .seconds(5)) {
                    !family.contains { ProcessTree.isAlive($0) }
                }
            }
        }
    }
}
