import Errand
import ErrandRedis
import Foundation
import TestSupport

/// A server's own information: the proof that a fault was injected.
extension RedisServer {
    /// A field of INFO; empty if there is none.
    func fact(_ name: String) throws -> String {
        try run("INFO", "everything").fact(name)
    }

    /// A field that is a number; 0 if there is none.
    func count(_ name: String) throws -> Int { Int(try fact(name)) ?? 0 }

    /// The number of errors of this kind since its start.
    func errors(_ kind: String) throws -> Int {
        Int(try fact("errorstat_\(kind)").drop { $0 != "=" }.dropFirst()) ?? 0
    }

    /// Gives it the highest priority, if permitted, so that its own measurements are accurate.
    func takePrecedence() throws { try Shell.run("renice -n -20 -p \(pid) || true") }

    /// Changes a setting.
    func configure(_ name: String, _ value: String) throws {
        let answer = try run("CONFIG", "SET", name, value)
        guard answer == "OK" else { throw TestFailure("CONFIG SET \(name) \(value): \(answer)") }
    }
}

extension String {
    /// A field of this reply to INFO.
    fileprivate func fact(_ name: String) -> String {
        for line in split(whereSeparator: \.isNewline) where line.hasPrefix(name + ":") {
            return String(line.dropFirst(name.count + 1))
        }
        return ""
    }
}

extension ScenarioContext {
    /// The server's reply over the console's existing connection, for when it accepts no other.
    func ask(_ words: String...) async throws -> String {
        var command = CommandWriter()
        command.begin(words.count)
        for word in words { command.add(word) }
        return try await operatorsBroker.command(command, for: .anywhere).text ?? ""
    }

    /// A field of INFO over the console's existing connection.
    func fact(_ name: String) async throws -> String { try await ask("INFO", "everything").fact(name) }
}
