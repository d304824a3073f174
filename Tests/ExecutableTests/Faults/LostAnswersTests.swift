import Errand
import ErrandRedis
import Foundation
import Synchronization
import TestSupport
import Testing

extension FaultTests {
    /// Networks that lose, repeat and cut messages.
    @Suite struct LostAnswers {
        /// The replies to the first and then every fourth call of each script are lost.
        @Test func everyScriptSurvivesTheLossOfItsAnswer() async throws {
            let calls = ScriptCalls()
            try await endure(calls) { request in
                guard let (_, number) = calls.note(request) else { return .pass }
                return number % 4 == 0 ? .loseAnswer : .pass
            }
        }

        @Test func everyScriptMayArriveTwice() async throws {
            let calls = ScriptCalls()
            try await endure(calls) { request in
                guard let (_, number) = calls.note(request) else { return .pass }
                return number % 2 == 0 ? .twice : .pass
            }
        }

        @Test func connectionsMayBreakInTheMiddleOfARequest() async throws {
            let calls = ScriptCalls()
            try await endure(calls) { request in
                guard let (_, number) = calls.note(request) else { return .pass }
                return number % 5 == 0 ? .cutInTheMiddle : .pass
            }
        }

        @Test func answersMayComeByteByByte() async throws {
            let calls = ScriptCalls()
            try await endure(calls, slice: 1) { request in
                _ = calls.note(request)
                return .pass
            }
        }

        /// Pushes and runs jobs through a bad network; each ends once.
        private func endure(
            _ calls: ScriptCalls,
            slice: Int = .max,
            _ treat: @escaping @Sendable (ChaosProxy.Request) -> ChaosProxy.Treatment
        ) async throws {
            try await FaultScene.play { scene in
                let proxy = try ChaosProxy(to: scene.server)
                defer { proxy.close() }
                proxy.slice(slice)
                proxy.treat(treat)
                let workers = [try await scene.worker(via: proxy.url), try await scene.worker(via: proxy.url)]
                let ids = try await push(FaultProfile.size(quick: 40, full: 400), via: proxy, scene)
                try await scene.drain(within: .seconds(120))
                // Every transition of producer and workers met the fault.
                for script in ["push", "register", "exchange", "heartbeat", "recover", "promote"] {
                    #expect(calls.count(script) > 0, "\(script)")
                }
                let totals = try await scene.status().totals
                #expect(totals["pushed"] == ids.count)
                #expect(totals["finished"] == ids.count)
                #expect(totals["recovered"] == 0)
                #expect(try await scene.unfinished(ids).isEmpty)
                #expect(scene.ledger.counts("begin") == Dictionary(uniqueKeysWithValues: ids.map { ($0, 1) }))
                #expect(scene.ledger.counts("end") == scene.ledger.counts("begin"))
                proxy.treat { _ in .pass }
                #expect(try await scene.stop(workers) == [0, 0])
                #expect(try await scene.findings().isEmpty)
                #expect(try scene.keys().filter { !FaultScene.mayBeLeft($0) }.isEmpty)
            }
        }

        /// Single pushes with unique names, repeated until the outcome is known.
        private func push(_ count: Int, via proxy: ChaosProxy, _ scene: FaultScene) async throws -> [String] {
            let broker = try FaultScene.connect(proxy.url)
            defer { broker.close() }
            let producer = Producer(broker: broker)
            var ids: [String] = []
            for number in 0..<count {
                let job = try OperationDescription(
                    "note",
                    arguments: ["seconds": "0.05"],
                    queue: FaultScene.queue,
                    name: "\(number)",
                    unique: number % 2 == 0 ? .drop : .replace
                ).makeEnvelope()
                var receipt: Receipt
                repeat { receipt = try await producer.push(envelopes: [job])[0] } while receipt.outcome == .unknown
                #expect(receipt.outcome == .accepted || receipt.outcome == .exists)
                ids.append(job.id)
            }
            return ids
        }
    }
}

/// The number of calls of each script.
private final class ScriptCalls: Sendable {
    private let counts = Mutex<[String: Int]>([:])
    private static let names = Dictionary(uniqueKeysWithValues: Script.all.map { (Array($0.digest.utf8), $0.name) })
    private static let texts = Dictionary(uniqueKeysWithValues: Script.all.map { ($0.text, $0.name) })

    /// Counts a request, and returns the script's name and the number of earlier calls; `nil` if it calls no script.
    func note(_ request: ChaosProxy.Request) -> (name: String, before: Int)? {
        let words = RESPFrame.words(of: request.bytes)
        guard words.count > 1, let name = Self.names[words[1]] ?? Self.texts[words[1]] else { return nil }
        return counts.withLock { counts in
            defer { counts[name, default: 0] += 1 }
            return (name, counts[name, default: 0])
        }
    }

    func count(_ name: String) -> Int { counts.withLock { $0[name] ?? 0 } }
}
