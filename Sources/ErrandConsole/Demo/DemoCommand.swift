import ArgumentParser
import ErrandCommandLine
import Foundation

/// The command that shows Errand at work on real files.
struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Runs real jobs on real files, kills a worker in the middle, and checks every result.",
        discussion: """
            Starts an embedded broker of its own and several worker processes, pushes a job a file (SHA-256 and \
            size), a third of them twice so that duplicates are dropped, and three that never finish so that \
            they time out. When a third is done it kills a worker with SIGKILL while that holds jobs, and starts \
            another. In the end every result is compared with a direct computation. Nothing stays behind: no \
            process, no file.

            Fewer than 300 files are worked on several times, under as many names. Symbolic links are not followed and \
            other file systems not entered; files that cannot be read or change meanwhile are left out.

            Exit status: 0, or 1 when a job was lost, a result is wrong, or nothing was dropped, timed out or recovered.

            Examples:
              errand demo
              errand demo ~/Documents --workers 8
              errand demo --json 2>/dev/null
              errand demo --keep
            """
    )

    @Argument(help: ArgumentHelp("A directory with files (default: /usr/share/doc, else this one).", valueName: "dir"))
    var directory: String?

    @Flag(help: "Print the figures as one line of JSON on standard output.")
    var json = false

    @Flag(help: "Keep the broker running until interrupted, for inspection; its data stays.")
    var keep = false

    @Option(help: "How many worker processes.")
    var workers = 4

    @Option(help: "The largest number of files.")
    var files = 20_000

    @Option(help: ArgumentHelp("Let the workers return a wrong checksum for this file.", visibility: .private))
    var spoil: String?

    func validate() throws {
        guard (1...64).contains(workers) else { throw ValidationError("--workers must be 1 to 64") }
        guard (1...1_000_000).contains(files) else { throw ValidationError("--files must be 1 to 1000000") }
    }

    func run() async throws {
        RawOutput.outliveReaders()
        let interruption = DemoInterruption()
        do {
            try await reportingFailures {
                try await interruption.cancels { try await perform() }
            }
        } catch is CancellationError {
            throw ExitCode(interruption.exitStatus ?? 1)
        } catch {
            // Errors that the signal causes are not reported.
            if let status = interruption.exitStatus { throw ExitCode(status) }
            throw error
        }
    }

    private func perform() async throws {
        let display = DemoDisplay()
        let limit = files
        let found = try directory.map { try SourceFiles(below: $0, atMost: limit) } ?? SourceFiles.usual(atMost: limit)
        let home = try TemporaryBroker.open(as: "errand-demo", logger: CommandLogger.make("errand-demo"))
        let processes = WorkerProcesses(arguments: workerArguments(for: home))
        var isKept = false
        defer {
            display.clear()
            processes.end()
            home.close(keepingData: isKept)
        }
        let run = DemoRun(home: home, workers: processes, workerCount: workers, found: found, display: display)
        let result = try await run.run()
        display.clear()
        let isShown = show(result)
        isKept = keep
        if keep { await waitForInterruption(home, display) }
        guard result.complaints.isEmpty else { throw ExitStatus.unsuccessful }
        guard isShown else { throw CommandFailure("cannot write the output", ExitStatus.notWritten) }
    }

    private func workerArguments(for home: TemporaryBroker) -> [String] {
        ["demo-worker", "--embedded", home.directory] + (spoil.map { ["--spoil", $0] } ?? [])
    }

    /// Shows the result. Returns whether the output for programs, or without `--json` that for people, was written.
    private func show(_ result: DemoResult) -> Bool {
        let report = DemoReport(result: result)
        let isWritten = RawOutput.write("\n" + report.table + "\n", to: json ? 2 : 1)
        for complaint in result.complaints { RawOutput.write("error: \(complaint)\n", to: 2) }
        if result.complaints.isEmpty { RawOutput.write(DemoReport.suggestions, to: json ? 2 : 1) }
        return json ? RawOutput.write(result.json + "\n", to: 1) : isWritten
    }

    private func waitForInterruption(_ home: TemporaryBroker, _ display: DemoDisplay) async {
        display.tell(DemoReport.lookingAt(home.directory))
        while !Task.isCancelled { try? await Task.sleep(for: .seconds(3600)) }
    }
}
