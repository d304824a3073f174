import Errand
import ErrandRedis

/// A server with another library's keys, accessed with plain commands.
struct ForeignRedis: Sendable {
    let broker: RedisBroker

    /// Runs a command whose second word is a key.
    @discardableResult
    func run(_ words: [UInt8]...) async throws(BrokerError) -> RESPValue {
        let key = words.count > 1 ? String(decoding: words[1], as: UTF8.self) : ""
        return try await run(words, for: .key(key))
    }

    private func run(_ words: [[UInt8]], for place: CommandPlace) async throws(BrokerError) -> RESPValue {
        var writer = CommandWriter()
        writer.begin(words.count)
        for word in words { writer.add(word) }
        return try await broker.command(writer, for: place, isForeign: true)
    }

    /// Runs a command on one key and names the key in errors.
    private func ask(_ command: String, _ key: String) async throws(BrokerError) -> RESPValue {
        do throws(BrokerError) { return try await run(Array(command.utf8), Array(key.utf8)) } catch {
            throw BrokerError(error.code, "\(key): \(error.message)")
        }
    }

    /// Returns the type of a key: `list`, `zset`, …; `none` if it does not exist.
    func type(of key: String) async throws(BrokerError) -> String { try await ask("TYPE", key).text ?? "none" }

    func text(_ key: String) async throws(BrokerError) -> [UInt8]? { try await ask("GET", key).bytes }

    func exists(_ key: String) async throws(BrokerError) -> Bool { try await ask("EXISTS", key).number == 1 }

    func field(_ field: String, of key: String) async throws(BrokerError) -> String? {
        do throws(BrokerError) {
            return try await run(Array("HGET".utf8), Array(key.utf8), Array(field.utf8)).text
        } catch { throw BrokerError(error.code, "\(key): \(error.message)") }
    }

    func members(of key: String) async throws(BrokerError) -> [String] {
        try await ask("SMEMBERS", key).elements?.compactMap(\.text) ?? []
    }

    func delete(_ key: String) async throws(BrokerError) { _ = try await ask("DEL", key) }

    /// Returns the keys that match a pattern, found with SCAN.
    func keys(like pattern: String) async throws(BrokerError) -> [String] {
        var found: Set<String> = []
        for server in try await broker.allServers() {
            var cursor = "0"
            repeat {
                let words = ["SCAN", cursor, "MATCH", pattern, "COUNT", "1000"].map { Array($0.utf8) }
                let page = try await run(words, for: .server(server)).elements
                cursor = page?.first?.text ?? "0"
                found.formUnion(page?.last?.elements?.compactMap(\.text) ?? [])
            } while cursor != "0"
        }
        return found.sorted()
    }
}
