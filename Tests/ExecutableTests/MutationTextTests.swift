import ErrandRedis
import Foundation
import Testing

/// A mutation whose text is not in its script, or that leaves a script that Lua cannot compile, shows nothing about the
/// checks.
@Suite(.enabled(if: DeploymentFiles.isInstalled("luac5.1"), "Lua's compiler is not installed"))
struct MutationTextTests {
    private static let scripts = Script.all.map { (name: $0.name, text: String(decoding: $0.text, as: UTF8.self)) }

    private struct Mutation {
        let name: String
        let script: String
        let old: String
        let new: String

        /// Reads a line of `scripts/mutations.txt`; `nil` if it is a comment, or changes a Swift file.
        init?(_ line: Substring) {
            let parts = line.components(separatedBy: " => ").map { $0.trimmingCharacters(in: .whitespaces) }
            guard !line.hasPrefix("#"), parts.count >= 4, !parts[1].hasSuffix(".swift") else { return nil }
            (name, script) = (parts[0], parts[1])
            old = parts[2].replacing("\\n", with: "\n")
            new = parts[3] == "(nothing)" ? "" : parts[3].replacing("\\n", with: "\n")
        }

        /// The first script that has the text, with its replacement; `nil` if none has it. Lua does not know the first line,
        /// which is for Redis.
        var broken: String? {
            for (name, text) in MutationTextTests.scripts where script == "*" || script == name {
                let parts = text.components(separatedBy: old)
                if parts.count > 1 { return String(parts.joined(separator: new).drop { !$0.isNewline }) }
            }
            return nil
        }
    }

    @Test func everyMutationFitsItsScriptAndCompiles() throws {
        let mutations = try DeploymentFiles.text("scripts/mutations.txt").split(separator: "\n")
            .compactMap(Mutation.init)
        #expect(mutations.count > 400)
        let folder = FileManager.default.temporaryDirectory.appending(path: "mutations-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var files: [String] = []
        for mutation in mutations {
            let broken = mutation.broken
            #expect(broken != nil, "\(mutation.name): \(mutation.script) does not have \(mutation.old)")
            files.append(folder.appending(path: mutation.name).path)
            try broken?.write(toFile: files[files.count - 1], atomically: false, encoding: .utf8)
        }
        let compiled = try DeploymentFiles.run(["luac5.1", "-p"] + files)
        #expect(compiled.status == 0, "\(compiled.text.prefix(500))")
    }
}
