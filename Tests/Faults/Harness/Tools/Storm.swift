import Errand
import ErrandRedis
import Foundation
import TestSupport

/// Many concurrent pushes of one name, by processes in another language and by connections of this process.
struct Storm {
    /// The receipt of each push, by its id.
    let outcomes: [String: Receipt.Outcome]
    /// The ids in the order of their execution by the server.
    let order: [String]

    static let name = "one name"
    private static let processes = 3

    /// The target and the size of the storm.
    struct Place: Sendable {
        let context: ScenarioContext
        let server: RedisServer
        let policy: UniquenessPolicy
        let operation: String
        let gate: String
    }

    /// Runs this many pushes and waits for their end.
    static func rage(_ place: Place, count: Int) async throws -> Storm {
        let watch = try await watch(place)
        let share = count / (processes + 1)
        let go = place.context.directory + "/go"
        try? FileManager.default.removeItem(atPath: go)
        let others = try (0..<processes).map { try start($0, place, share, go) }
        for other in others {
            try await eventually("a storm is ready; it wrote \(other.lines)") { other.lines.first == "ready" }
        }
        try Data().write(to: URL(fileURLWithPath: go))
        var outcomes = try await ours(place, count - processes * share)
        for other in others {
            place.context.expect(try await other.end() == 0, "a storm failed: \(other.lines.suffix(2))")
            for words in other.lines.map({ $0.split(separator: " ") }) where words.count == 3 {
                outcomes[String(words[1])] = outcome(words[2])
            }
        }
        try await eventually("the server's log has every push") { order(watch).count >= count }
        watch.signal(SIGTERM)
        return Storm(outcomes: outcomes, order: order(watch))
    }

    // MARK: Producers

    private static func start(_ number: Int, _ place: Place, _ count: Int, _ go: String) throws -> Program {
        let script = place.context.directory + "/push.lua"
        let text = Script.all.first { $0.name == "push" }?.text ?? []
        try Data(text).write(to: URL(fileURLWithPath: script))
        let storm = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("storm.py")
        let letter = place.policy == .drop ? "d" : "r"
        return try place.context.program(
            "/usr/bin/env",
            [
                "python3", storm.path, place.server.socket, script, go, ScenarioContext.queue, letter, place.operation,
                name,
                "python\(number)", String(count), place.gate,
            ]
        )
    }

    /// Four connections of this process, each with one push after the other.
    private static func ours(_ place: Place, _ count: Int) async throws -> [String: Receipt.Outcome] {
        try await withThrowingTaskGroup(of: [String: Receipt.Outcome].self) { group in
            for connection in 0..<4 {
                let numbers = Array(stride(from: connection, to: count, by: 4))
                let broker = try place.context.connect(place.server.url)
                group.addTask { try await push(numbers, through: broker, place) }
            }
            return try await group.reduce(into: [:]) { $0.merge($1) { first, _ in first } }
        }
    }

    private static func push(
        _ numbers: [Int],
        through broker: RedisBroker,
        _ place: Place
    ) async throws -> [String: Receipt.Outcome] {
        var outcomes: [String: Receipt.Outcome] = [:]
        for number in numbers {
            let id = "swift-\(number)"
            let job = try OperationDescription(
                place.operation,
                encoding: ["id": id, "gate": place.gate],
                queue: ScenarioContext.queue,
                name: name,
                unique: place.policy,
                timeout: .seconds(600),
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

    /// Logs every command that the server executes.
    private static func watch(_ place: Place) async throws -> Program {
        let watch = try place.context.program("/usr/bin/env", ["redis-cli", "-s", place.server.socket, "MONITOR"])
        try await eventually("the server tells what it does") { watch.lines.first == "OK" }
        return watch
    }

    /// The ids of the pushes in the log: the word after the two keys.
    private static func order(_ watch: Program) -> [String] {
        let queue = KeySpace.key(of: ScenarioContext.queue)
        let key = "\"2\" \"\(queue)\" \"\(queue)\(KeySpace.gate)\" \""
        return watch.lines.compactMap { line in
            guard line.contains("] \"EVAL"), let start = line.range(of: key)?.upperBound else { return nil }
            let id = line[start...].prefix { $0 != "\"" }
            return id.hasPrefix("swift-") || id.hasPrefix("python") ? String(id) : nil
        }
    }
}
