import Errand
import ErrandRedis
import Foundation
import TestSupport
import Testing

extension FaultTests {
    /// SIGTERM under load.
    @Suite struct GracefulStop {
        /// Jobs that are longer than the grace return to their positions.
        @Test func unfinishedJobsReturnToTheHeadUnspent() async throws {
            try await FaultScene.play { scene in
                let ids = try await scene.pushMany(40, "gate", ["text": "x"])
                let first = try await scene.worker(concurrency: 4, grace: "5s")
                try await eventually("four jobs run") { scene.ledger.counts("begin").count == 4 }
                let start = ContinuousClock.now
                #expect(try await scene.stop([first]) == [0])
                #expect(ContinuousClock.now - start < .seconds(15))
                let begun = Set(scene.ledger.counts("begin").keys)
                #expect(begun == Set(ids.prefix(4)))
                let status = try await scene.status()
                #expect(status.ready == 40 && status.running == 0 && status.totals["released"] == 4)
                let line = try scene.server.run("LRANGE", KeySpace.key(of: FaultScene.queue) + ":ready:5", "0", "-1")
                    .split(separator: "\n").map(String.init)
                #expect(Set(line.prefix(4)) == begun)
                #expect(Array(line.dropFirst(4)) == Array(ids.dropFirst(4)))
                try scene.openGate()
                let second = try await scene.worker(concurrency: 8)
                try await scene.drain()
                try await eventually("every finish is heard") { scene.events.all("finished").count == 40 }
                #expect(scene.events.all().allSatisfy { $0.attempt == 1 })
                let totals = try await scene.status().totals
                #expect(totals["finished"] == 40 && totals["recovered"] == 0)
                #expect(try await scene.stop([second]) == [0])
                #expect(try await scene.findings().isEmpty)
                #expect(try scene.keys().filter { !FaultScene.mayBeLeft($0) }.isEmpty)
            }
        }

        /// Short jobs: running ones end, waiting ones are released, and no job begins twice.
        @Test func workersComeAndGoUnderLoad() async throws {
            try await FaultScene.play { scene in
                let count = FaultProfile.size(quick: 300, full: 2000)
                let ids = try await scene.pushMany(count, "mark")
                var isLast = false
                var released = 0
                while !isLast {
                    let worker = try await scene.worker(concurrency: 4, grace: "5s")
                    let before = scene.ledger.counts("end").count
                    try await eventually("some jobs are done") {
                        scene.ledger.counts("end").count >= min(before + 60, count)
                    }
                    let start = ContinuousClock.now
                    #expect(try await scene.stop([worker]) == [0])
                    #expect(ContinuousClock.now - start < .seconds(15))
                    let status = try await scene.status()
                    #expect(status.running == 0)
                    #expect(status.ready + status.totals["finished"] == count)
                    released = status.totals["released"]
                    isLast = status.ready == 0
                }
                print("workersComeAndGoUnderLoad: \(released) released")
                #expect(scene.ledger.counts("begin") == Dictionary(uniqueKeysWithValues: ids.map { ($0, 1) }))
                #expect(try await scene.unfinished(ids).isEmpty)
                #expect(try await scene.status().totals["recovered"] == 0)
                #expect(try await scene.findings().isEmpty)
                #expect(try scene.keys().filter { !FaultScene.mayBeLeft($0) }.isEmpty)
            }
        }
    }
}
