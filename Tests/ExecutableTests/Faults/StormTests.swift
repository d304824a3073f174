import Errand
import ErrandRedis
import Foundation
import TestSupport
import Testing

extension FaultTests {
    /// A thousand pushes of one name at once, from several processes.
    @Suite struct Storms {
        private static let count = FaultProfile.size(quick: 1000, full: 10_000)
        private static let fewer = FaultProfile.size(quick: 300, full: 1000)

        @Test func ofAThousandDropsOneRuns() async throws {
            try await FaultScene.play { scene in
                let workers = [try await scene.worker(), try await scene.worker()]
                let storm = try await Storm.rage(scene, .drop, "gate", count: Self.count)
                #expect(storm.outcomes.count == Self.count)
                #expect(storm.outcomes.values.filter { $0 == .dropped }.count == Self.count - 1)
                let accepted = storm.outcomes.filter { $0.value == .accepted }.map(\.key)
                #expect(accepted == Array(storm.order.prefix(1)))
                try scene.openGate()
                try await scene.drain()
                #expect(scene.ledger.counts("begin") == [accepted[0]: 1])
                let totals = try await scene.status().totals
                #expect(totals["pushed"] == 1 && totals["finished"] == 1 && totals["dropped"] == Self.count - 1)
                try await leave(workers, scene)
            }
        }

        /// Nobody works yet: each replaces the one before it in line.
        @Test func ofReplacesThatMeetAWaitingJobTheLastRuns() async throws {
            try await FaultScene.play { scene in
                let storm = try await Storm.rage(scene, .replace, "gate", count: Self.count)
                #expect(storm.outcomes.values.filter { $0 == .replaced }.count == Self.count - 1)
                try scene.openGate()
                let worker = try await scene.worker()
                try await check(storm, scene)
                #expect(scene.ledger.all("begin").count == 1)
                try await leave([worker], scene)
            }
        }

        /// The running job is told to stop; while it stops, and again while its successor runs, the storm goes on.
        @Test func ofReplacesThatMeetARunningJobTheLastRuns() async throws {
            try await FaultScene.play { scene in
                let workers = [try await scene.worker(), try await scene.worker()]
                let first = try await scene.push(try job())
                try await eventually("the first job runs") { scene.ledger.counts("begin")[first.id] == 1 }
                let storm = try await Storm.rage(scene, .replace, "gate", count: Self.fewer)
                #expect(storm.outcomes.values.contains(.deferred))
                try await eventually("the last job runs") { scene.ledger.all("begin").last?[0] == storm.order.last }
                try scene.openGate()
                try await check(storm, scene)
                #expect(scene.ledger.counts("end")[first.id] == nil)
                #expect(try await scene.state(of: first.id) != .finished)
                try await leave(workers, scene)
            }
        }

        @Test func ofReplacesThatMeetADelayedJobTheLastRuns() async throws {
            try await FaultScene.play { scene in
                let later = Int64(Date().timeIntervalSince1970 * 1000) + 3_600_000
                let first = try await scene.push(try job(notBefore: later))
                #expect(try await scene.state(of: first.id) == .scheduled)
                let storm = try await Storm.rage(scene, .replace, "gate", count: Self.fewer)
                #expect(storm.outcomes.values.allSatisfy { $0 == .replaced })
                #expect(try await scene.state(of: first.id) == .replaced)
                try scene.openGate()
                let worker = try await scene.worker()
                try await check(storm, scene)
                #expect(scene.ledger.all("begin").count == 1)
                try await leave([worker], scene)
            }
        }

        /// Every worker dies while the storm rages, one of them with the job that runs; another comes.
        @Test func ofReplacesTheLastRunsThoughWorkersAreKilled() async throws {
            try await FaultScene.play { scene in
                let killed = [try await scene.worker(), try await scene.worker()]
                let first = try await scene.push(try job())
                try await eventually("the first job runs") { scene.ledger.counts("begin")[first.id] == 1 }
                async let raging = Storm.rage(scene, .replace, "gate", count: Self.fewer)
                try await eventually("the storm has begun") { try await scene.status().totals["pushed"] > 1 }
                try await killWhileOneRuns(killed, scene)
                let worker = try await scene.worker()
                let storm = try await raging
                try scene.openGate()
                try await check(storm, scene)
                #expect(try await scene.status().totals["recovered"] > 0)
                // What dead workers leave is cleared away by one that lives.
                try await eventually("the dead sessions are gone") {
                    try await scene.broker.status(of: FaultScene.queue).sessions.count == 1
                }
                try await leave([worker], scene)
            }
        }

        /// Stops the workers, kills them if one of them holds the job, lets them go on and tries again otherwise.
        private func killWhileOneRuns(_ workers: [Program], _ scene: FaultScene) async throws {
            try await eventually("a stopped worker holds the job") {
                for worker in workers { worker.signal(SIGSTOP) }
                if try await scene.status().running > 0 { return true }
                for worker in workers { worker.signal(SIGCONT) }
                return false
            }
            for worker in workers { try await worker.killTree() }
        }

        private func job(notBefore: Int64? = nil) throws -> OperationDescription {
            try OperationDescription(
                "gate",
                arguments: ["text": "first"],
                queue: FaultScene.queue,
                name: Storm.name,
                unique: .replace,
                notBefore: notBefore
            )
        }

        /// The last that the server took is the last that ran, with its own arguments, and the only one that finished.
        private func check(_ storm: Storm, _ scene: FaultScene) async throws {
            try await scene.drain()
            let last = try #require(storm.order.last)
            #expect(Set(storm.order) == Set(storm.outcomes.keys))
            #expect(scene.ledger.lines.last.map { [$0[0], $0[1], $0[3]] } == ["end", last, last])
            #expect(scene.ledger.all("begin").last?[0] == last)
            #expect(try await scene.unfinished(storm.order).keys.sorted() == storm.order.dropLast().sorted())
            let totals = try await scene.status().totals
            #expect(totals["finished"] == 1 && totals["dropped"] == 0)
        }

        private func leave(_ workers: [Program], _ scene: FaultScene) async throws {
            #expect(try await scene.stop(workers).allSatisfy { $0 == 0 })
            #expect(try await scene.findings().isEmpty)
            #expect(try scene.keys().filter { !FaultScene.mayBeLeft($0) }.isEmpty)
        }
    }
}
