import Errand
import ErrandRedis
import Foundation
import TestSupport

/// What a server says of itself: the proof that a fault injected.
extension RedisServer {
    /// A fact of INFO; empty when it has none of that name.
    func fact(_ name: String) throws -> String {
        try run("INFO", "everything").fact(name)
    }

    /// A fact that is a number; 0 when there is none.
    func count(_ name: String) throws -> Int { Int(try fact(name)) ?? 0 }

    /// How many commands it has answered with an error of this kind since it started.
    func errors(_ kind: String) throws -> Int {
        Int(try fact("errorstat_\(kind)").drop { $0 != "=" }.dropFirst()) ?? 0
    }

    /// Puts it before every other process, where that is allowed: what it tells of its own time is then its own time.
    func takePrecedence() throws { try Shell.run("renice -n -20 -p \(pid) || true") }

    /// Changes a setting.
    func configure(_ name: String, _ value: String) throws {
        let answer = try run("CONFIG", "SET", name, value)
        guard answer == "OK" else { throw TestFailure("CONFIG SET \(name) \(value): \(answer)") }
    }
}

extension String {
    /// A fact of this answer to INFO.
    fileprivate func fact(_ name: String) -> String {
        for line in split(whereSeparator: \.isNewline) where line.hasPrefix(name + ":") {
            return String(line.dropFirst(name.count + 1))
        }
        return ""
    }
}

extension ScenarioContext {
    /// What the server answers over the console's own connection, for when it takes no other.
    func ask(_ words: String...) async throws -> String {
        var command = CommandWriter()
        command.begin(words.count)
        for word in words { command.add(word) }
        return try await operatorsBroker.command(command).text ?? ""
    }

    /// A fact of INFO over the console's own connection.
    func fact(_ name: String) async throws -> String { try await ask("INFO", "everything").fact(name) }
}
