import Errand
import ErrandRedis
import Foundation
import TestSupport
import Testing

/// Many pushes of one name at once: from processes of another language, and from connections of this one.
struct Storm {
    /// What became of each push, by the id that was pushed.
    let outcomes: [String: Receipt.Outcome]
    /// The ids in the order in which the server took them.
    let order: [String]

    static let name = "one name"
    private static let processes = 3

    /// Lets loose a storm of jobs whose argument `text` is their id, and waits until it is over.
    static func rage(
        _ scene: FaultScene,
        _ policy: UniquenessPolicy,
        _ operation: String,
        count: Int
    ) async throws -> Storm {
        let watch = try await watch(scene)
        let share = count / (processes + 1)
        let go = scene.server.directory + "/go"
        try? FileManager.default.removeItem(atPath: go)
        let others = try (0..<processes).map { try start($0, scene, policy, operation, share, go) }
        for other in others {
            try await eventually("a storm is ready; it wrote \(other.lines)") { other.lines.first == "ready" }
        }
        try Data().write(to: URL(fileURLWithPath: go))
        var outcomes = try await ours(scene, policy, operation, count - processes * share)
        for other in others {
            #expect(try await other.end() == 0)
            for words in other.lines.map({ $0.split(separator: " ") }) where words.count == 3 {
                outcomes[String(words[1])] = outcome(words[2])
            }
        }
        try await eventually("the server's log has every push") { order(watch).count >= count }
        watch.signal(SIGTERM)
        return Storm(outcomes: outcomes, order: order(watch))
    }

    // MARK: Who pushes

    private static func start(
        _ number: Int,
        _ scene: FaultScene,
        _ policy: UniquenessPolicy,
        _ operation: String,
        _ count: Int,
        _ go: String
    ) throws -> Program {
        let script = scene.server.directory + "/push.lua"
        let text = Script.all.first { $0.name == "push" }?.text ?? []
        try Data(text).write(to: URL(fileURLWithPath: script))
        let storm = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../storm.py")
        let letter = policy == .drop ? "d" : "r"
        return try Program(
            "/usr/bin/env",
            [
                "python3", storm.standardized.path, scene.server.socket, script, go, FaultScene.queue, letter,
                operation, name,
                "python\(number)", String(count),
            ]
        )
    }

    /// Four connections of this process, each one push after the other.
    private static func ours(
        _ scene: FaultScene,
        _ policy: UniquenessPolicy,
        _ operation: String,
        _ count: Int
    ) async throws -> [String: Receipt.Outcome] {
        try await withThrowingTaskGroup(of: [String: Receipt.Outcome].self) { group in
            for connection in 0..<4 {
                let numbers = Array(stride(from: connection, to: count, by: 4))
                let url = scene.server.url
                group.addTask { try await push(numbers, through: FaultScene.connect(url), policy, operation) }
            }
            return try await group.reduce(into: [:]) { $0.merge($1) { first, _ in first } }
        }
    }

    private static func push(
        _ numbers: [Int],
        through broker: RedisBroker,
        _ policy: UniquenessPolicy,
        _ operation: String
    ) async throws -> [String: Receipt.Outcome] {
        defer { broker.close() }
        var outcomes: [String: Receipt.Outcome] = [:]
        for number in numbers {
            let id = "swift-\(number)"
            let job = try OperationDescription(
                operation,
                arguments: ["text": .init(stringLiteral: id)],
                queue: FaultScene.queue,
                name: name,
                unique: policy,
                id: id
            )
            outcomes[id] = try await Producer(broker: broker).push(job).outcome
        }
        return outcomes
    }

    private static func outcome(_ answer: Substring) -> Receipt.Outcome {
        switch answer.first {
        case "a": .accepted
        case "d": .dropped
        case "r": .replaced
        case "n": .deferred
        default: .unknown
        }
    }

    // MARK: The server's own log

    /// Lets the server tell every command as it carries it out.
    private static func watch(_ scene: FaultScene) async throws -> Program {
        let watch = try Program("/usr/bin/env", ["redis-cli", "-s", scene.server.socket, "MONITOR"])
        try await eventually("the server tells what it does") { watch.lines.first == "OK" }
        return watch
    }

    /// The ids of the pushes in the log: the word behind the only key.
    private static func order(_ watch: Program) -> [String] {
        let key = "\"1\" \"\(KeySpace.key(of: FaultScene.queue))\" \""
        return watch.lines.compactMap { line in
            guard line.contains("] \"EVAL"), let start = line.range(of: key)?.upperBound else { return nil }
            let id = line[start...].prefix { $0 != "\"" }
            return id.hasPrefix("swift-") || id.hasPrefix("python") ? String(id) : nil
        }
    }
}
