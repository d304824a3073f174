import Testing

/// `--help` of every command.
@Suite struct ConsoleHelpTests {
    @Test(arguments: [
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
    ])
    func consoleShowsAnExample(_ command: [String]) async throws {
        let output = try await Executable.console.run(command + ["--help"])
        #expect(output.status == 0)
        #expect(output.text.contains("Example"))
        #expect(output.text.contains((["  errand"] + command).joined(separator: " ")))
        #expect(output.error.isEmpty)
        // A wrongly joined source line would keep the indentation of the next one.
        #expect(output.text.firstMatch(of: /[a-z,.] {12,}[a-z]/) == nil, "\(output.text)")
    }

    @Test(arguments: [[], ["push"]])
    func producerShowsAnExample(_ command: [String]) async throws {
        let output = try await Executable.producer.run(command + ["--help"])
        #expect(output.status == 0)
        #expect(output.text.contains("  errand-producer push "))
    }

    @Test func knowsNoOtherCommands() async throws {
        #expect(try await Executable.console.run(["dance"]).status == 64)
        #expect(try await Executable.console.run(["status", "--colour"]).status == 64)
    }
}
