import ErrandRedis
import Foundation
import Logging
import TestSupport

/// The scripts, with a mutation if the environment contains one: `scripts/check-mutations` checks that these tests
/// detect it.
enum BrokenScripts {
    /// A text of a script and its replacement.
    struct Change {
        /// The script's name; `*` for all.
        var script = "*"
        let old: String
        let new: String
    }

    /// `nil` for the original scripts, unless `ERRAND_BROKEN_SCRIPT` contains a script's name (`*` for all), the text
    /// to change, and its replacement, separated by unit separators (0x1F).
    static func overrides() throws -> ScriptOverrides? {
        guard let breakage = try breakage() else { return nil }
        return try overrides([breakage])
    }

    /// A broker with these scripts.
    static func broker(on server: RedisServer) throws -> RedisBroker {
        try broker(on: server, overrides())
    }

    /// A broker whose scripts have a changed text, such as a limit that a test can reach.
    static func broker(on server: RedisServer, with new: String, for old: String) throws -> RedisBroker {
        try broker(on: server, changing: [Change(old: old, new: new)])
    }

    /// A broker whose scripts have changed texts, and the mutation of the environment.
    static func broker(on server: RedisServer, changing changes: [Change]) throws -> RedisBroker {
        try broker(on: server, overrides(changes + (breakage().map { [$0] } ?? [])))
    }

    private static func broker(on server: RedisServer, _ overrides: ScriptOverrides?) throws -> RedisBroker {
        RedisBroker(try RedisAddress(url: server.url), logger: Logger(label: "edges"), overrides: overrides)
    }

    private static func breakage() throws -> Change? {
        guard let words = ProcessInfo.processInfo.environment["ERRAND_BROKEN_SCRIPT"] else { return nil }
        let parts = words.split(separator: "\u{1F}", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3 else { throw NoMatch(description: "ERRAND_BROKEN_SCRIPT is not three texts") }
        return Change(script: parts[0], old: parts[1], new: parts[2])
    }

    private static func overrides(_ changes: [Change]) throws -> ScriptOverrides {
        var matches = changes.map { _ in 0 }
        let overrides = ScriptOverrides { name, text in
            var text = text
            for (index, change) in changes.enumerated() where change.script == "*" || change.script == name {
                guard text.contains(change.old) else { continue }
                matches[index] += 1
                text = text.replacing(change.old, with: change.new)
            }
            return text
        }
        for (change, count) in zip(changes, matches) where count == 0 {
            throw NoMatch(description: "\(change.script) does not hold: \(change.old)")
        }
        return overrides
    }

    struct NoMatch: Error, CustomStringConvertible {
        let description: String
    }
}
