import ErrandRedis
import Testing

/// Lua looks a global name up when it is used, so a script that uses a name before its declaration, or without one, would
/// fail only in the branch that needs it. Lua's compiler lists such names.
@Suite(.enabled(if: DeploymentFiles.isInstalled("luac5.1"), "Lua's compiler is not installed"))
struct ScriptNamesTests {
    /// What Redis gives scripts, as far as they use it.
    private static let given: Set<String> = [
        "ARGV", "KEYS", "error", "getmetatable", "ipairs", "math", "next", "pairs", "redis", "select", "setmetatable",
        "string", "table", "tonumber", "tostring", "type", "unpack",
    ]

    @Test(arguments: Script.all.indices) func everyNameIsDeclared(_ index: Int) throws {
        let script = Script.all[index]
        // Lua does not know the first line, which is for Redis.
        let text = String(decoding: script.text, as: UTF8.self).drop { !$0.isNewline }
        let listing = try DeploymentFiles.run(["luac5.1", "-l", "-p", "-"], input: String(text))
        #expect(listing.status == 0, "\(script.name): \(listing.text.prefix(300))")
        let names = listing.text.matches(of: /ETGLOBAL\s+\S+ \S+\s*; (\S+)/).map { String($0.1) }
        #expect(names.contains("redis"), "\(script.name)")
        #expect(Set(names).subtracting(Self.given) == [], "\(script.name)")
        #expect(!listing.text.contains("SETGLOBAL"), "\(script.name)")
    }
}
