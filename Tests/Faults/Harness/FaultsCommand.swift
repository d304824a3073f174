import ArgumentParser
import ErrandCommandLine
import Foundation

/// Runs the fault catalogue of `docs/reliability.md` on real servers and processes.
@main
struct FaultsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "errand-faults",
        abstract: "Make every fault happen, and look whether anything is lost or stuck.",
        discussion: """
            Each scenario starts a server and workers of its own, makes a fault happen, heals it, waits until the queue is \
            empty, and compares a ledger that the jobs wrote outside Redis with what was pushed. A scenario whose fault did \
            not happen is invalid.

            Example:
              errand-faults --only F03 --only F20 --seed 7
            """
    )

    @Flag(help: "Everything, at its full size; otherwise the quick profile.")
    var full = false

    @Option(help: "Only this scenario; repeatable.")
    var only: [String] = []

    @Option(help: "Repeats the random choices of an earlier run.")
    var seed: UInt64?

    @Option(
        help:
            "How often a scenario that was late or did not injection is played again. Whatever else does not hold fails at once."
    )
    var again = 0

    @Option(
        help:
            "How many scenarios are played at once, but for those that need the whole machine. Those that are late are played again alone."
    )
    var lanes = 1

    @Flag(help: "One line of JSON a scenario on standard output.")
    var json = false

    @Flag(help: "Lists the scenarios and plays none.")
    var list = false

    @Flag(help: "Keeps the servers' directories.")
    var keep = false

    func run() async throws {
        let chosen = try choose()
        if list {
            for scenario in chosen { StandardOutput.write("\(scenario.id)  \(scenario.title)") }
            return
        }
        let runner = FaultRunner(isFull: full, seed: seed ?? .random(in: 0...9_999_999), keepsFiles: keep)
        let isForPrograms = json
        let series = FaultSeries(runner: runner, lanes: lanes, again: again) { report in
            if isForPrograms { StandardOutput.write(report.line) }
        }
        let reports = await series.play(chosen)
        if !json { FaultTable.print(reports) }
        let failed = reports.filter { !$0.passed }.count
        StandardError.write("\(reports.count - failed) passed, \(failed) failed")
        if failed > 0 { throw ExitCode(1) }
    }

    func validate() throws {
        guard (1...16).contains(lanes) else { throw ValidationError("--lanes must be from 1 to 16") }
    }

    private func choose() throws -> [Scenario] {
        let all = Scenario.all
        guard only.isEmpty else {
            let known = all + Scenario.probes
            for id in only where !known.contains(where: { $0.id == id }) {
                throw ValidationError("there is no scenario \(id); --list names them all")
            }
            return known.filter { only.contains($0.id) }
        }
        return full || list ? all : all.filter(\.isQuick)
    }
}
