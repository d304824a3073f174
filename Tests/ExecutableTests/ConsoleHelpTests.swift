import Foundation
import TestSupport
import Testing

/// `--help` of every command.
@Suite struct ConsoleHelpTests {
    private static let commands = [
        [], ["status"], ["worker-check"], ["top"], ["jobs"], ["job"], ["job", "show"], ["job", "cancel"],
        ["job", "retry"],
        ["job", "delete"],
        ["job", "edit"], ["jobs", "list"], ["jobs", "retry"], ["jobs", "cancel"], ["jobs", "delete"],
        ["jobs", "export"], ["jobs", "import"], ["queue"],
        ["queue", "create"], ["queue", "delete"], ["queue", "pause"], ["queue", "resume"], ["queue", "clear"],
        ["queue", "limit"], ["queue", "set"], ["events"],
        ["import"],
        ["doctor"],
        ["schedule"], ["schedule", "list"], ["schedule", "show"], ["schedule", "add"], ["schedule", "delete"],
        ["schedule", "pause"], ["schedule", "resume"], ["schedule", "run"], ["schedule", "next"],
        ["workflow"], ["workflow", "list"], ["workflow", "show"], ["workflow", "cancel"], ["workflow", "retry"],
        ["workflow", "delete"],
    ]

    @Test(arguments: commands)
    func consoleShowsAnExample(_ command: [String]) async throws {
        let output = try await Executable.console.run(command + ["--help"])
        #expect(output.status == 0)
        #expect(output.text.contains("Example"))
        #expect(output.text.contains((["  errand"] + command).joined(separator: " ")))
        #expect(output.error.isEmpty)
        // A wrongly joined source line would keep the indentation of the next one.
        #expect(output.text.firstMatch(of: /[a-z,.] {12,}[a-z]/) == nil, "\(output.text)")
    }

    /// The examples of a command, each as a shell takes it.
    private func examples(of command: [String]) async throws -> [String] {
        let help = try await Executable.console.run(command + ["--help"]).text
        let blocks = help.components(separatedBy: "\n\n").filter { $0.hasPrefix("Example") }
        return blocks.flatMap { block in
            let lines = block.split(separator: "\n").dropFirst()
            // A line that is not indented is the end of a longer one, which cannot be copied.
            #expect(lines.allSatisfy { $0.hasPrefix("  ") && $0.count <= 80 }, "\(block)")
            let joined = lines.joined(separator: "\n").replacing(#/ \\\n +/#, with: " ")
            return joined.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        }
    }

    @Test(arguments: commands)
    func examplesCanBeCopied(_ command: [String]) async throws {
        let server = try RedisServer()
        let endless = ["errand events", "errand top", "errand demo", "errand bench"]
        let examples = try await examples(of: command).filter { example in
            !endless.contains { example.hasPrefix($0) } && !example.contains("redis://")
        }
        let directory = FileManager.default.temporaryDirectory.appending(path: "errand-help-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let tools = try Executable.console.url.deletingLastPathComponent().path
        let environment = [
            "ERRAND_REDIS_URL": server.url, "OLD": server.url, "NEW": server.url,
            "PATH": "\(tools):\(ProcessInfo.processInfo.environment["PATH"] ?? "")",
        ]
        for example in examples {
            let shell = try Program(
                "/bin/sh",
                ["-c", "cd '\(directory.path)' && \(example)"],
                environment: environment
            )
            #expect(try await shell.end() != 64, "\(example): \(shell.lines)")
        }
    }

    @Test(arguments: [[], ["push"]])
    func producerShowsAnExample(_ command: [String]) async throws {
        let output = try await Executable.producer.run(command + ["--help"])
        #expect(output.status == 0)
        #expect(output.text.contains("  errand-producer push "))
    }

    @Test(arguments: [
        (["stauts"], "errand status"), (["jbs"], "errand jobs"), (["job", "shw", "x"], "errand job show"),
        (["queue", "puase", "mail"], "errand queue pause"), (["jobs", "retri"], "errand jobs retry"),
        (["schedule", "lst", "--json"], "errand schedule list"),
    ])
    func suggestsACommandForAMistypedOne(_ arguments: [String], _ command: String) async throws {
        let output = try await Executable.console.run(arguments)
        #expect(output.status == 64)
        #expect(output.error.contains(". Did you mean '\(command)'?\nUsage: errand"), "\(output.error)")
    }

    @Test(arguments: [["dance"], ["job", "show"], ["status", "--sort", "x"], ["schedule", "add", "nightly"]])
    func suggestsNothingUnlike(_ arguments: [String]) async throws {
        let output = try await Executable.console.run(arguments)
        #expect(output.status == 64)
        #expect(!output.error.contains("Did you mean"), "\(output.error)")
    }

    @Test func `control characters of a wrong argument do not reach the terminal`() async throws {
        let output = try await Executable.console.run(["workflow", "show", "net:\u{1B}[31mred"])
        #expect(output.status == 64)
        #expect(output.error.contains("net:\\u{1b}[31mred"), "\(output.error)")
        #expect(!output.error.contains("\u{1B}"))
    }

    @Test func knowsNoOtherCommands() async throws {
        #expect(try await Executable.console.run(["dance"]).status == 64)
        #expect(try await Executable.console.run(["status", "--colour"]).status == 64)
    }
}
