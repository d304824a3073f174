import Foundation
import Testing

@testable import ErrandCatalogue

/// What is told here holds for every command that ends by itself.
@Suite(.timeLimit(.minutes(6)))
struct ChildProcessTests {
    @Test func capturesOutput() async {
        let result = await ChildProcesses.shared.run(ChildCommand(["echo", "a b", "$HOME", "*"]))
        #expect(result.ending == .exited(0))
        #expect(!result.stopped)
        #expect(result.output == Array("a b $HOME *\n".utf8))
        #expect(result.errorTail.isEmpty)
    }

    @Test func passesAMebibyteThroughBothPipes() async {
        var command = ChildCommand(["cat"])
        command.input = (0..<1024 * 1024).map { UInt8(truncatingIfNeeded: $0 / 7) }
        command.outputLimit = 2 * 1024 * 1024
        let result = await ChildProcesses.shared.run(command)
        #expect(result.ending == .exited(0))
        #expect(result.output == command.input)
    }

    @Test func needsNoReaderOfItsInput() async {
        var command = ChildCommand(["true"])
        command.input = [UInt8](repeating: 1, count: 1024 * 1024)
        #expect(await ChildProcesses.shared.run(command).ending == .exited(0))
    }

    @Test func keepsTheBeginningOfTenMebibytesOfOutput() async {
        let result = await shell("echo begin; head -c 10485760 /dev/zero; echo end >&2")
        #expect(result.ending == .exited(0))
        #expect(result.output.count == 64 * 1024)
        #expect(result.output.starts(with: Array("begin\n".utf8)))
        #expect(result.errorTail == Array("end\n".utf8))
    }

    @Test func keepsTheEndOfStandardError() async {
        let result = await shell("head -c 1000000 /dev/zero | tr '\\0' x >&2; echo end >&2; exit 1")
        #expect(result.errorTail.count == 4 * 1024)
        #expect(result.errorTail.suffix(5) == Array("xend\n".utf8)[...])
    }

    @Test(arguments: [0, 1, 75, 127, 255] as [Int32])
    func reportsExitStatuses(status: Int32) async {
        #expect(await shell("exit \(status)").ending == .exited(status))
    }

    @Test(arguments: [SIGTERM, SIGKILL, SIGSEGV, SIGPIPE])
    func reportsSignals(number: Int32) async {
        #expect(await shell("kill -\(number) $$").ending == .signalled(number))
    }

    @Test func namesWhatCannotBeRun() async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("script-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data("echo no interpreter\n".utf8).write(to: file)
        let cases: [([String], String)] = [
            (["errand-no-such-command"], "there is no such command on the worker's PATH"),
            (["/no/such/file"], "there is no such file"),
            ([file.path], "it is not an executable file"),
            (["/"], "it is not an executable file"),
            ([""], "it is not an executable file"),
            (["echo", String(repeating: "x", count: 200_000)], "its arguments are longer than the system allows"),
            (["echo", "a\0b"], "holds a NUL character"),
        ]
        for (arguments, message) in cases { try await expectNotStarted(arguments, message) }
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: file.path)
        try await expectNotStarted([file.path], "does a script lack its #! line?")
    }

    private func expectNotStarted(_ arguments: [String], _ message: String) async throws {
        guard case .notStarted(let error) = await ChildProcesses.shared.run(ChildCommand(arguments)).ending else {
            throw TestError("\(arguments.first ?? "") was started")
        }
        #expect(error.description.contains(message), "\(error)")
    }

    @Test func addsToTheEnvironment() async {
        var command = ChildCommand(["env"])
        command.environment = ["ERRAND_JOB_ID": "1=2", "LANG": "replaced"]
        let lines = String(decoding: await ChildProcesses.shared.run(command).output, as: UTF8.self).split(
            separator: "\n"
        )
        #expect(lines.contains("ERRAND_JOB_ID=1=2"))
        #expect(lines.filter { $0.hasPrefix("LANG=") } == ["LANG=replaced"])
        #expect(lines.contains { $0.hasPrefix("PATH=") })
    }

    @Test func startsWithDefaultSignalsAndNoOtherFiles() async {
        let blocked = await shell("grep -E '^Sig(Blk|Ign)' /proc/self/status")
        #expect(blocked.output == Array("SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n".utf8))
        let inherited = open("/dev/null", O_RDONLY)
        defer { close(inherited) }
        let files = await ChildProcesses.shared.run(ChildCommand(["ls", "/proc/self/fd"]))
        // The fourth is the folder that it lists.
        #expect(files.output == Array("0\n1\n2\n3\n".utf8))
    }

    @Test func leadsAProcessGroupOfItsOwn() async {
        let result = await shell("cut -d' ' -f1,5 /proc/$$/stat")
        let fields = String(decoding: result.output, as: UTF8.self).split { " \n".contains($0) }
        #expect(fields.count == 2)
        #expect(fields.first == fields.last)
    }

    @Test func killsWhatACommandLeavesInItsGroup() async throws {
        let fifo = try Fifo()
        let result = await shell("exec 3>\(fifo.path); sleep 1000 >/dev/null 2>&1 & exit 0")
        #expect(result.ending == .exited(0))
        try await fifo.end()
    }

    @Test func waitsForOutputThatComesAfterTheCommandHasEnded() async throws {
        let fifo = try Fifo()
        let child = Task {
            await shell("(read line < \(fifo.path)-in; echo late) & echo early; exec 3>\(fifo.path); echo >&3")
        }
        guard mkfifo(fifo.path + "-in", 0o600) == 0 else { throw TestError("mkfifo") }
        defer { unlink(fifo.path + "-in") }
        _ = try await fifo.line()
        try await fifo.end()
        let path = fifo.path
        try await onThread { try Data("go\n".utf8).write(to: URL(fileURLWithPath: path + "-in")) }
        #expect(await child.value.output == Array("early\nlate\n".utf8))
    }

    @Test func runsManyAtOnce() async {
        let outputs = await withTaskGroup(of: [UInt8].self) { group in
            for number in 0..<100 { group.addTask { await shell("echo \(number)").output } }
            return await group.reduce(into: Set<[UInt8]>()) { $0.insert($1) }
        }
        #expect(outputs == Set((0..<100).map { Array("\($0)\n".utf8) }))
    }

    @Test func leavesNoFilesOpenAndNoZombies() async throws {
        for _ in 0..<20 { _ = await shell("echo x; echo y >&2") }
        let before = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
        for _ in 0..<200 { _ = await shell("echo x; echo y >&2") }
        let after = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
        // Other tests run beside this one; two hundred commands that leaked would show.
        #expect(after < before + 150)
    }
}

/// Runs a script in a shell.
func shell(_ script: String, stopGrace: Duration = .seconds(2)) async -> ChildResult {
    var command = ChildCommand(["/bin/sh", "-c", script])
    command.stopGrace = stopGrace
    return await ChildProcesses.shared.run(command)
}
