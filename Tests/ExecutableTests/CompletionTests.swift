import Foundation
import TestSupport
import Testing

/// Shell completion: the script is loaded into a shell and called like the shell calls it.
@Suite struct CompletionTests {
    /// Calls the function like bash does when the Tab key is pressed after these words.
    private static let asking = """
        words=("$@"); COMP_WORDS=("${words[@]:1}"); COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        source "$1"
        COMP_LINE="${COMP_WORDS[*]}"; COMP_POINT=${#COMP_LINE}
        "_${COMP_WORDS[0]//-/_}" "${COMP_WORDS[0]}" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
        printf '%s\\n' "${COMPREPLY[@]}"
        """

    private func offers(
        _ executable: Executable,
        _ words: [String],
        environment: [String: String] = [:]
    ) async throws -> [String] {
        let script = try await executable.run(["--generate-completion-script", "bash"])
        #expect(script.status == 0)
        let file = FileManager.default.temporaryDirectory.appending(path: "errand-completion-\(UUID().uuidString)")
        try Data(script.bytes).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let arguments = ["-c", Self.asking, "bash", file.path, executable.rawValue] + words
        // The script runs the command to complete names.
        let directory = try executable.url.deletingLastPathComponent().path
        let path = "\(directory):\(ProcessInfo.processInfo.environment["PATH"] ?? "")"
        let shell = try Program("/bin/bash", arguments, environment: environment.merging(["PATH": path]) { $1 })
        #expect(try await shell.end() == 0, "\(shell.lines)")
        return shell.lines
    }

    @Test(arguments: [
        (["qu"], ["queue"]),
        (["queue", "pa"], ["pause"]),
        (["jobs", "list", "--sta"], ["--state"]),
        (["jobs", "list", "--wor"], ["--worker"]),
        (["jobs", "list", "--state", "de"], ["deferred", "dead", "deleted"]),
    ])
    func commandsOptionsAndValuesAreOffered(_ words: [String], _ offered: [String]) async throws {
        #expect(try await offers(.console, words).filter { !$0.isEmpty } == offered)
    }

    @Test(arguments: [
        ["queue", "pause", "im"], ["status", "--queue", "im"], ["job", "show", "x", "--queue", "im"],
        ["schedule", "show", "x", "--queue", "im"],
    ])
    func queuesOfTheBrokerAreOffered(_ words: [String]) async throws {
        let server = try RedisServer()
        for queue in ["images", "imports", "mail"] {
            #expect(try await Executable.console.run(["queue", "create", queue], on: server).status == 0)
        }
        let offered = try await offers(.console, words, environment: ["ERRAND_REDIS_URL": server.url])
        #expect(offered.filter { !$0.isEmpty }.sorted() == ["images", "imports"])
    }

    @Test func aKeyPressMakesNoEmbeddedBroker() async throws {
        let home = FileManager.default.temporaryDirectory.appending(path: "errand-home-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: home) }
        let offered = try await offers(.console, ["queue", "pause", "im"], environment: ["ERRAND_HOME": home])
        #expect(offered.joined().isEmpty)
        #expect(!FileManager.default.fileExists(atPath: home))
    }

    @Test(arguments: [Executable.producer, .worker, .dashboard], ["bash", "zsh", "fish"])
    func everyExecutableHasScripts(_ executable: Executable, _ shell: String) async throws {
        let script = try await executable.run(["--generate-completion-script", shell])
        #expect(script.status == 0)
        #expect(script.text.contains(executable.rawValue))
    }
}
