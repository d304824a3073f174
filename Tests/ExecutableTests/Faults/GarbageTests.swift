import Errand
import ErrandRedis
import Foundation
import TestSupport
import Testing

extension FaultTests {
    /// Anybody who can write to the server can write anything.
    @Suite struct Garbage {
        /// Raw bytes over the bodies of waiting jobs: those end dead with the reason, the others go on.
        @Test func bodiesThatCannotBeReadEndDead() async throws {
            var random = SeededRandom(for: "bodiesThatCannotBeReadEndDead")
            try await FaultScene.play { scene in
                let count = FaultProfile.size(quick: 30, full: 300)
                let ids = try await push(count * 2, in: scene)
                let (bad, good) = (Array(ids.prefix(count)), Array(ids.suffix(count)))
                for id in bad {
                    let body = try await scene.broker.command(.command("HGET", key("body"), id)).bytes ?? []
                    try await write("HSET", [Array(key("body").utf8), Array(id.utf8), spoiled(body, &random)], scene)
                }
                let workers = [try await scene.worker(), try await scene.worker()]
                try await eventually("nothing waits any more") {
                    let now = try await scene.status()
                    return now.ready + now.running == 0
                }
                #expect(try await scene.unfinished(good).isEmpty)
                for (id, record) in zip(bad, try await scene.broker.inspect(bad, on: FaultScene.queue)) {
                    #expect(record?.state == .dead, "\(id)")
                    let event = String(decoding: record?.lastEvent ?? [], as: UTF8.self)
                    #expect(event.contains(#""event":"dead""#))
                    #expect(event.contains(#""error":"unreadable: "#) || event.contains("body is missing"), "\(event)")
                }
                #expect(try await scene.status().dead == count)
                #expect(Set(scene.ledger.counts("begin").keys) == Set(good))
                #expect(workers.allSatisfy { $0.isRunning && scene.sessions(of: $0).count == 1 })
                // The dead hold no names.
                #expect(try scene.keys().isDisjoint(with: ["names", "named"]))
                #expect(try await scene.findings().isEmpty)
                #expect(try await scene.broker.delete(bad, on: FaultScene.queue).allSatisfy { $0 == .deleted })
                #expect(try await scene.stop(workers) == [0, 0])
                #expect(try scene.keys().filter { !FaultScene.mayBeLeft($0) }.isEmpty)
            }
        }

        private func push(_ count: Int, in scene: FaultScene) async throws -> [String] {
            let jobs = try (0..<count).map { number in
                try OperationDescription(
                    "mark",
                    queue: FaultScene.queue,
                    name: "\(number)",
                    unique: number % 2 == 0 ? .drop : .replace,
                    priority: number % 10
                )
            }
            return try await scene.producer.push(contentsOf: jobs).map(\.id)
        }

        /// Nothing, noise, a part of the truth, or the truth with one byte wrong that matters.
        private func spoiled(_ body: [UInt8], _ random: inout SeededRandom) -> [UInt8] {
            switch Int.random(in: 0..<5, using: &random) {
            case 0: return []
            case 1: return noise(Int.random(in: 1...300, using: &random), &random)
            case 2: return noise(65536, &random)
            case 3: return Array(body.prefix(Int.random(in: 0..<body.count, using: &random)))
            default: return Array(body.prefix(13)) + [UInt8(ascii: "2")] + body.dropFirst(14)
            }
        }

        private func noise(_ count: Int, _ random: inout SeededRandom) -> [UInt8] {
            (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
        }

        // MARK: Every key

        /// New members in every key that a queue has or could have, and noise on its channels, while jobs run.
        @Test func garbageInEveryKeyIsSurvivedFoundAndMended() async throws {
            var random = SeededRandom(for: "garbageInEveryKeyIsSurvivedFoundAndMended")
            try await FaultScene.play { scene in
                let dead = try await scene.pushMany(2, "fail")
                let workers = [try await scene.worker(), try await scene.worker()]
                let retrying = try OperationDescription("fail", queue: FaultScene.queue, retries: 1000)
                let retryingID = try await scene.push(retrying).id
                let unknown = try await scene.pushMany(2, "nobody-knows-this")
                let later = Int64(Date().timeIntervalSince1970 * 1000) + 3_600_000
                let scheduled = try await scene.push(
                    OperationDescription("mark", queue: FaultScene.queue, notBefore: later)
                ).id
                let running = try await push("gate", 4, in: scene)
                try await eventually("jobs run, failed and are dead") {
                    let now = try await scene.status()
                    return scene.ledger.all("begin").filter { running.contains($0[0]) }.count == 4 && now.dead == 2
                        && now.unknownOperations["nobody-knows-this"] == 2
                }
                let waiting = try await push("mark", 40, in: scene)
                try await spoil(scene, workers, &random)
                let after = try await push("mark", 40, in: scene)
                try await see(scene)
                try scene.openGate()
                var left: [String: String] = [:]
                try await eventually("every good job is finished, but \(left)") {
                    left = try await scene.unfinished(running + waiting + after)
                    return left.isEmpty
                }
                #expect(workers.allSatisfy { $0.isRunning })
                try await mend(scene)
                #expect(try await scene.state(of: scheduled) == .scheduled)
                #expect([.retrying, .ready, .running].contains(try await scene.state(of: retryingID)))
                for id in dead { #expect(try await scene.state(of: id) == .dead) }
                for id in unknown { #expect(try await scene.state(of: id) == .ready) }
                // And work goes on.
                let final = try await push("mark", 10, in: scene)
                try await eventually("further jobs are finished") { try await scene.unfinished(final).isEmpty }
                _ = try await scene.broker.cancel([retryingID], on: FaultScene.queue)
                // The unknown operation's line is nobody's; every other one is served to its end.
                try await eventually("every line is empty, but there are \((try? scene.keys().sorted()) ?? [])") {
                    let keys = try scene.keys()
                    return !keys.contains { $0.hasPrefix("ready:") || $0 == "suspects" || $0.hasPrefix("claims:") }
                }
                #expect(try await scene.stop(workers) == [0, 0])
                try await clear(scene)
            }
        }

        /// Jobs with names, half of them, on all levels.
        private func push(_ operation: String, _ count: Int, in scene: FaultScene) async throws -> [String] {
            let jobs = try (0..<count).map { number in
                try OperationDescription(
                    operation,
                    arguments: ["text": "x"],
                    queue: FaultScene.queue,
                    name: number % 2 == 0 ? "\(operation) \(UUID())" : nil,
                    unique: number % 2 == 0 ? .replace : .ignore,
                    priority: number % 10
                )
            }
            return try await scene.producer.push(contentsOf: jobs).map(\.id)
        }

        private static let hashes = [
            "body", "parked", "names", "named", "running", "next", "stops", "failures", "crashes", "alone", "errors",
            "stand",
            "place", "gone", "ended", "ended:old", "history", "counters", "seq", "settings",
        ]
        private static let lines =
            (0...9).map { "ready:\($0)" } + ["suspects", "history:order", "parked:nobody-knows-this"]
        private static let sorted = ["scheduled", "retrying", "dead", "sessions"]

        private func spoil(_ scene: FaultScene, _ workers: [Program], _ random: inout SeededRandom) async throws {
            let sessions = workers.flatMap { scene.sessions(of: $0) }
            let hashes = Self.hashes + sessions.flatMap { ["session:\($0)", "claims:\($0)"] }
            // A finite set of garbage, so that the same text comes twice.
            let texts: [[UInt8]] =
                ["", "garbage", "0", "-1", "1e300", "nan", "a b\"c\n", "mark"].map { Array($0.utf8) }
                + [noise(20, &random), noise(5000, &random), [0, 255, 254]]
            for _ in 0..<FaultProfile.size(quick: 6, full: 60) {
                for name in hashes {
                    let words = [random.pick(texts), random.pick(texts)]
                    try await write("HSETNX", [Array(key(name).utf8)] + words, scene)
                }
                for name in Self.lines { try await write("RPUSH", [Array(key(name).utf8), random.pick(texts)], scene) }
                for name in Self.lines { try await write("LPUSH", [Array(key(name).utf8), random.pick(texts)], scene) }
                for name in Self.sorted {
                    let score = random.pick(["0", "1e15", "-5", "inf"])
                    try await write("ZADD", [Array(key(name).utf8), Array(score.utf8), random.pick(texts)], scene)
                }
                try await write("SADD", [Array(key("idle").utf8), random.pick(texts)], scene)
                try await write("SADD", [Array("errand:queues".utf8), random.pick(texts)], scene)
                try await publish(random.pick(texts), sessions, scene)
            }
            let forged = #"{"event":"finished","id":"forged","worker":"x","attempt":1}"#
            try await publish(Array(forged.utf8), sessions, scene)
            try await publish(noise(1 << 20, &random), sessions, scene)
        }

        private func publish(_ message: [UInt8], _ sessions: [String], _ scene: FaultScene) async throws {
            for channel in ["events"] + sessions.map({ "hints:\($0)" }) {
                for message in [message, Array("w".utf8), Array("s".utf8)] {
                    try await write("PUBLISH", [Array(key(channel).utf8), message], scene)
                }
            }
        }

        /// The console's calls answer in spite of it all.
        private func see(_ scene: FaultScene) async throws {
            _ = try await scene.broker.queues()
            _ = try await scene.broker.status(of: FaultScene.queue)
            for state in JobState.allCases {
                var cursor: Int? = 0
                while let from = cursor {
                    cursor = try await scene.broker.jobs(in: state, on: FaultScene.queue, from: from, count: 50).next
                }
            }
            _ = try await scene.broker.inspect(["garbage", "0", "nothing"], on: FaultScene.queue)
            #expect(try await !scene.findings().isEmpty)
            #expect(scene.events.messages > 10)
        }

        /// Repairs until nothing is found; what was put in line by it needs a moment to be run to its end.
        private func mend(_ scene: FaultScene) async throws {
            var last: [Finding] = []
            do {
                try await eventually("the queue is mended", within: .seconds(20)) {
                    last = try await scene.broker.audit(FaultScene.queue, repair: true)
                    return last.isEmpty
                }
            } catch { Issue.record("still found: \(last)") }
        }

        /// What the garbage left behind is only what the dead and the jobs of another day have.
        private func clear(_ scene: FaultScene) async throws {
            let left = try scene.keys().filter { !FaultScene.mayBeLeft($0) }
            let expected: Set<String> = [
                "body", "dead", "errors", "failures", "crashes", "alone", "names", "named", "stops", "parked",
                "parked:nobody-knows-this",
                "scheduled", "retrying",
                "settings", "ready:5",
            ]
            #expect(left.isSubset(of: expected), "\(left.subtracting(expected))")
            #expect(try await scene.findings().isEmpty)
        }

        private func key(_ name: String) -> String { KeySpace.key(of: FaultScene.queue) + ":" + name }

        private func write(_ command: String, _ words: [[UInt8]], _ scene: FaultScene) async throws {
            var writer = CommandWriter()
            writer.begin(words.count + 1)
            writer.add(command)
            for word in words { writer.add(word) }
            _ = try await scene.broker.command(writer)
        }
    }
}

extension SeededRandom {
    fileprivate mutating func pick<Value>(_ values: [Value]) -> Value {
        values[Int.random(in: values.indices, using: &self)]
    }
}
