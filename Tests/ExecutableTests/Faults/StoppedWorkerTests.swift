import Errand
import ErrandRedis
import Foundation
import TestSupport
import Testing

extension FaultTests {
    /// Workers that continue after their lease has ended.
    @Suite struct StoppedWorkers {
        @Test func lateFinishOfAContinuedWorkerChangesNothing() async throws {
            try await FaultScene.play { scene in
                let first = try await scene.worker(concurrency: 1)
                let id = try await scene.pushMany(1, "note", ["seconds": "0.3"])[0]
                try await eventually("the job has begun") { scene.ledger.counts("begin")[id] == 1 }
                first.signal(SIGSTOP)
                // Its child continues and ends; the finish waits in the suspended worker.
                try await eventually("the child has ended") { scene.ledger.counts("end")[id] == 1 }
                let second = try await scene.worker(concurrency: 1)
                try await scene.drain()
                first.signal(SIGCONT)
                try await eventually("the first worker has a new session") { scene.sessions(of: first).count == 2 }
                try await check(id, ranBy: second, scene)
                try await runsOn(first, beside: second, scene)
            }
        }

        private func check(_ id: String, ranBy second: Program, _ scene: FaultScene) async throws {
            let session = scene.sessions(of: second)[0]
            try await eventually("the second worker's finish is heard") {
                !scene.events.all("finished", of: id).isEmpty
            }
            #expect(scene.events.all("finished", of: id).map(\.worker) == [session])
            #expect(scene.events.all("recovered", of: id).count == 1)
            let tokens = scene.ledger.all("begin").filter { $0[0] == id }.map { $0[1] }
            #expect(tokens.count == 2 && tokens[0] != tokens[1])
            let totals = try await scene.status().totals
            #expect(totals["finished"] == 1)
            #expect(totals["recovered"] == 1)
            #expect(try await scene.findings().isEmpty)
        }

        /// The first worker claims further jobs in its new session.
        private func runsOn(_ first: Program, beside second: Program, _ scene: FaultScene) async throws {
            #expect(try await scene.stop([second]) == [0])
            let ids = try await scene.pushMany(3, "mark")
            try await scene.drain()
            let sessions = scene.sessions(of: first)
            #expect(Set(sessions).count == 2)
            #expect(try await scene.broker.status(of: FaultScene.queue).sessions.map(\.id) == [sessions[1]])
            try await eventually("three finishes are heard") {
                ids.allSatisfy { scene.events.all("finished", of: $0).map(\.worker) == [sessions[1]] }
            }
            #expect(try await scene.stop([first]) == [0])
            #expect(try scene.keys().filter { !FaultScene.mayBeLeft($0) }.isEmpty)
        }

        /// The finish has left the worker, but the network holds it until the job has run elsewhere.
        @Test func finishInTransitIsRejectedWhenTheSessionHasEnded() async throws {
            try await FaultScene.play { scene in
                let proxy = try ChaosProxy(to: scene.server)
                defer { proxy.close() }
                let first = try await scene.worker(concurrency: 1, via: proxy.url)
                let job = try OperationDescription("mark", queue: FaultScene.queue)
                let envelope = try job.makeEnvelope()
                proxy.treat { Self.isReport($0, of: envelope.id) ? .holdAll : .pass }
                _ = try await scene.producer.push(envelopes: [envelope])
                try await eventually("the finish is held back") { proxy.heldRequests == 1 }
                #expect(scene.ledger.counts("end")[envelope.id] == 1)
                let second = try await scene.worker(concurrency: 1)
                try await scene.drain()
                let before = try await scene.status().totals
                proxy.release()
                let held = try await passage(of: envelope.id, proxy)
                #expect(held.answerText.contains("ERRANDLOST"))
                try await eventually("the first worker has a new session") { scene.sessions(of: first).count == 2 }
                #expect(try await scene.status().totals == before)
                try await check(envelope.id, ranBy: second, scene)
                try await runsOn(first, beside: second, scene)
            }
        }

        /// Whether a request reports the end of a job. A reconciliation also contains the job.
        private static func isReport(_ request: ChaosProxy.Request, of id: String) -> Bool {
            request.contains(id) && request.contains(exchange)
        }

        /// The digest of the script for reports.
        private static let exchange = Script.all.first { $0.name == "exchange" }?.digest ?? ""

        /// The held report, once the server has replied to it.
        private func passage(of id: String, _ proxy: ChaosProxy) async throws -> ChaosProxy.Passage {
            var passages: [ChaosProxy.Passage] = []
            try await eventually("the held finish is answered") {
                passages = proxy.passages.filter { Self.isReport($0.request, of: id) && !$0.answer.isEmpty }
                return !passages.isEmpty
            }
            return passages[0]
        }

        /// Heartbeats arrive, the finish does not: the job is recovered at its hard deadline, and the session stays
        /// alive.
        @Test func finishInTransitIsStaleAfterTheHardDeadline() async throws {
            try await FaultScene.play { scene in
                let proxy = try ChaosProxy(to: scene.server)
                defer { proxy.close() }
                let first = try await scene.worker(concurrency: 1, via: proxy.url)
                let job = try OperationDescription("mark", queue: FaultScene.queue, timeout: .seconds(1), retries: 1)
                let envelope = try job.makeEnvelope()
                proxy.treat { Self.isReport($0, of: envelope.id) ? .hold : .pass }
                _ = try await scene.producer.push(envelopes: [envelope])
                try await eventually("the finish is held back") { proxy.heldRequests == 1 }
                let second = try await scene.worker(concurrency: 1)
                try await scene.drain()
                proxy.release()
                let held = try await passage(of: envelope.id, proxy)
                // The outcomes are the first part of an exchange's reply.
                #expect(held.answerText.contains("$1\r\n0\r\n"))
                let session = scene.sessions(of: second)[0]
                try await eventually("the second worker's finish is heard") {
                    !scene.events.all("finished", of: envelope.id).isEmpty
                }
                #expect(scene.events.all("finished", of: envelope.id).map(\.worker) == [session])
                #expect(scene.events.all("timed_out", of: envelope.id).count == 1)
                let totals = try await scene.status().totals
                #expect(totals["finished"] == 1 && totals["timed_out"] == 1 && totals["recovered"] == 0)
                #expect(scene.sessions(of: first).count == 1)
                try await eventually("the report was heard") { try await scene.findings().isEmpty }
                #expect(try await scene.stop([first, second]) == [0, 0])
                #expect(try scene.keys().filter { !FaultScene.mayBeLeft($0) }.isEmpty)
            }
        }
    }
}
