import Foundation
import TestSupport

/// A command with one of the executables in a file of `deploy`.
struct DeploymentCommand: CustomStringConvertible {
    let executable: Executable
    /// Its arguments.
    let words: [String]

    private static let ends: Set<String> = ["&", "&&", ";", "|", "||"]

    /// The command among these words, if there is one.
    init?(_ words: [String]) {
        let names = words.map { Executable(rawValue: String($0.split(separator: "/").last ?? "")) }
        guard let index = names.firstIndex(where: { $0 != nil }), let executable = names[index] else { return nil }
        self.executable = executable
        self.words = Array(words[(index + 1)...].prefix { !Self.ends.contains($0) })
    }

    var description: String { ([executable.rawValue] + words).joined(separator: " ") }

    /// The names of its options.
    var options: Set<String> {
        let given = words.filter { $0.hasPrefix("--") && $0.count > 2 }
        return Set(given.map { String($0.prefix { $0 != "=" }) })
    }

    /// The names of the options that its `--help` lists.
    func knownOptions() async throws -> Set<String> {
        // The words before the options are the subcommand and its arguments.
        let path = Array(words.prefix { !$0.hasPrefix("-") })
        var help = try await self.help(path)
        if let usual = help.firstMatch(of: /\n  ([a-z-]+) \(default\)/) {
            help += try await self.help(path + [String(usual.1)])
        }
        let labels = help.split(separator: "\n").filter { $0.hasPrefix("  -") }.map { line in
            // The words after the label may mention other options.
            line.dropFirst(2).firstRange(of: "  ").map { line[..<$0.lowerBound] } ?? line
        }
        return Set(labels.flatMap { $0.matches(of: /--[a-z][a-z-]*/).map { String($0.output) } })
    }

    private func help(_ path: [String]) async throws -> String {
        let output = try await executable.run(path + ["--help"])
        guard output.status == 0 else { throw TestFailure("\(self): \(output.error)") }
        return output.text
    }
}

extension DeploymentCommand {
    /// Every command in a file.
    static func all(in path: String) throws -> [DeploymentCommand] {
        let text = try DeploymentFiles.text(path)
        guard path.hasSuffix(".yaml") || path.hasSuffix(".yml") else { return calls(inLinesOf: text) }
        let documents = try DeploymentFiles.documents(path)
        let lists = documents.flatMap { composed($0) + ofPods($0) }
        // Comments and texts of other files contain names that are not executables, such as images.
        let said = ["docker-compose.yml", "deploy/prometheus/alerts.yaml"].contains(path)
        return lists.flatMap { calls(inLinesOf: $0.joined(separator: " ")) } + (said ? calls(inLinesOf: text) : [])
    }

    /// The commands in lines of text.
    private static func calls(inLinesOf text: String) -> [DeploymentCommand] {
        text.split(separator: "\n").compactMap { line in
            DeploymentCommand(line.split(separator: " ").map { $0.trimmingCharacters(in: ["\"", "'"]) })
        }
    }

    /// The commands of a compose file's services that are built here.
    private static func composed(_ file: YAMLValue) -> [[String]] {
        file["services"].members.values.filter { $0["build"].isThere }.flatMap { service in
            let start = service["entrypoint"].isThere ? service["entrypoint"].words : ["errand-worker"]
            return [start + service["command"].words, service["healthcheck"]["test"].words]
        }
    }

    /// The commands and probes of a pod's containers.
    private static func ofPods(_ object: YAMLValue) -> [[String]] {
        object["spec"]["template"]["spec"]["containers"].items.flatMap { container in
            let start = container["command"].isThere ? container["command"].words : ["errand-worker"]
            let probes = container.members.values.map { $0["exec"]["command"].words }.filter { !$0.isEmpty }
            return [start + container["args"].words] + probes
        }
    }
}
