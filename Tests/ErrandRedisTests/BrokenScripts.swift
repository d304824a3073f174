import ErrandRedis
import Foundation

/// The scripts with one of them broken on purpose, when the environment says so: `scripts/check-mutations` sees in this way
/// whether these tests notice.
enum BrokenScripts {
    /// `nil`, and so what is shipped, unless `ERRAND_BROKEN_SCRIPT` holds a script's name (`*` for all), the text to change,
    /// and the text to put in its place, with a unit separator (0x1F) between them.
    static func edition() throws -> ScriptEdition? {
        guard let words = ProcessInfo.processInfo.environment["ERRAND_BROKEN_SCRIPT"] else { return nil }
        let parts = words.split(separator: "\u{1F}", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3 else { throw NoMatch(description: "ERRAND_BROKEN_SCRIPT is not three texts") }
        var matches = 0
        let edition = ScriptEdition { name, text in
            guard parts[0] == "*" || parts[0] == name, text.contains(parts[1]) else { return text }
            matches += 1
            return text.replacing(parts[1], with: parts[2])
        }
        guard matches > 0 else { throw NoMatch(description: "\(parts[0]) does not hold: \(parts[1])") }
        return edition
    }

    struct NoMatch: Error, CustomStringConvertible {
        let description: String
    }
}
