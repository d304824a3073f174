import Errand
import ErrandRedis

/// A server with another library's keys, read by plain commands.
struct ForeignRedis: Sendable {
    let broker: RedisBroker

    /// Runs one command of texts and bytes.
    @discardableResult
    func run(_ words: [UInt8]...) async throws(BrokerError) -> RESPValue {
        var writer = CommandWriter()
        writer.begin(words.count)
        for word in words { writer.add(word) }
        return try await broker.command(writer)
    }

    /// What kind of key it is: `list`, `zset`, …; `none` when it is not there.
    func type(of key: String) async throws(BrokerError) -> String {
        try await run(Array("TYPE".utf8), Array(key.utf8)).text ?? "none"
    }

    func text(_ key: String) async throws(BrokerError) -> [UInt8]? {
        try await run(Array("GET".utf8), Array(key.utf8)).bytes
    }

    func exists(_ key: String) async throws(BrokerError) -> Bool {
        try await run(Array("EXISTS".utf8), Array(key.utf8)).number == 1
    }

    func field(_ field: String, of key: String) async throws(BrokerError) -> String? {
        try await run(Array("HGET".utf8), Array(key.utf8), Array(field.utf8)).text
    }

    func members(of key: String) async throws(BrokerError) -> [String] {
        try await run(Array("SMEMBERS".utf8), Array(key.utf8)).elements?.compactMap(\.text) ?? []
    }

    func delete(_ key: String) async throws(BrokerError) { try await run(Array("DEL".utf8), Array(key.utf8)) }

    /// Keys like a pattern, found step by step.
    func keys(like pattern: String) async throws(BrokerError) -> [String] {
        var (cursor, found): (String, Set<String>) = ("0", [])
        repeat {
            let page = try await run(
                Array("SCAN".utf8),
                Array(cursor.utf8),
                Array("MATCH".utf8),
                Array(pattern.utf8),
                Array("COUNT".utf8),
                Array("1000".utf8)
            ).elements
            cursor = page?.first?.text ?? "0"
            found.formUnion(page?.last?.elements?.compactMap(\.text) ?? [])
        } while cursor != "0"
        return found.sorted()
    }
}
