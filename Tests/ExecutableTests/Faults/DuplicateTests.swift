import Errand
import ErrandRedis
import Foundation
import TestSupport
import Testing

extension FaultTests {
    /// The same id more than once.
    @Suite struct Duplicates {
        @Test func ofAHundredPushesOfOneIDOneIsStored() async throws {
            try await FaultScene.play { scene in
                let jobs = try (0..<100).map { number in
                    try OperationDescription(
                        "gate",
                        arguments: ["text": .init(stringLiteral: "payload\(number)")],
                        queue: FaultScene.queue,
                        id: "the-same"
                    )
                }
                let outcomes = try await withThrowingTaskGroup(of: Receipt.Outcome.self) { group in
                    for job in jobs {
                        let url = scene.server.url
                        group.addTask {
                            let broker = try FaultScene.connect(url)
                            defer { broker.close() }
                            return try await Producer(broker: broker).push(job).outcome
                        }
                    }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                #expect(outcomes.filter { $0 == .accepted }.count == 1)
                #expect(outcomes.filter { $0 == .exists }.count == 99)
                try scene.openGate()
                let worker = try await scene.worker()
                try await scene.drain()
                #expect(scene.ledger.all("begin").count == 1)
                // After its end the id is still known.
                #expect(try await scene.push(jobs[7]).outcome == .exists)
                #expect(try await scene.stop([worker]) == [0])
                #expect(scene.ledger.all("begin").count == 1)
                #expect(try await scene.findings().isEmpty)
            }
        }

        /// Somebody writes an id into a line a second time: it may run twice, but it ends once.
        @Test func idThatIsInLineTwiceEndsOnce() async throws {
            try await FaultScene.play { scene in
                let id = try await scene.pushMany(1, "gate", ["text": "x"])[0]
                let line = KeySpace.key(of: FaultScene.queue) + ":ready:5"
                try scene.server.run("RPUSH", line, id)
                #expect(try await scene.findings().map(\.kind) == ["several_places"])
                let workers = [try await scene.worker(concurrency: 1), try await scene.worker(concurrency: 1)]
                try await eventually("the job runs twice") { scene.ledger.counts("begin")[id] == 2 }
                try scene.openGate()
                try await scene.drain()
                #expect(try await scene.stop(workers) == [0, 0])
                #expect(try await scene.status().totals["finished"] == 1)
                #expect(scene.events.all("finished", of: id).count == 1)
                #expect(try await scene.findings().isEmpty)
                #expect(try scene.keys().filter { !FaultScene.mayBeLeft($0) }.isEmpty)
            }
        }
    }
}
