import ErrandCommandLine
import Foundation

/// A comparison with another build: both measure in alternation on the same machine, so that its slow minutes affect both.
struct PairedBench {
    /// The path of the other build's `errand`.
    let other: String
    /// The arguments of each run.
    let arguments: [String]
    /// What each run finds in its environment beside the present one.
    let environment: [String: String]
    let pairs: Int

    /// Measures all pairs. Every second one begins with the other build.
    func figures() async throws -> PairedFigures {
        guard FileManager.default.isExecutableFile(atPath: other) else {
            throw CommandFailure("\(other) is not an executable file", ExitStatus.unsuccessful)
        }
        var figures = PairedFigures()
        for pair in 0..<pairs {
            StandardError.write("pair \(pair + 1) of \(pairs)")
            let begins = pair.isMultiple(of: 2)
            let early = try await run(begins ? Self.own : other)
            let late = try await run(begins ? other : Self.own)
            figures.add(ours: begins ? early : late, theirs: begins ? late : early)
        }
        return figures
    }

    private static var own: String { Bundle.main.executablePath ?? CommandLine.arguments.first ?? "errand" }

    /// The part of a run's output that has every figure by its name, with its smallest and its largest value.
    private struct Output: Decodable { let spread: [String: [Double]] }

    /// Its output is one line, which a pipe holds.
    private func run(_ program: String) async throws -> [String: Double] {
        let output = Pipe()
        let status = try await ForegroundProcess.run(
            [program] + arguments,
            environment: ProcessInfo.processInfo.environment.merging(environment) { _, new in new },
            output: output.fileHandleForWriting.fileDescriptor
        )
        try output.fileHandleForWriting.close()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        guard status == 0 else { throw Self.failure(program, "it ended with status \(status)") }
        guard let found = try? JSONDecoder().decode(Output.self, from: data) else {
            throw Self.failure(program, "its output is not that of errand bench --json")
        }
        return found.spread.compactMapValues(\.first)
    }

    private static func failure(_ program: String, _ reason: String) -> CommandFailure {
        CommandFailure("\(program) measured nothing: \(reason)", ExitStatus.unsuccessful)
    }
}
