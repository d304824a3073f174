import ArgumentParser
import ErrandCommandLine
import ErrandRedis

/// Measures what a broker and a worker on this machine carry.
struct BenchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench",
        abstract: "Measure jobs a second, latency and memory, beside what the server alone can do.",
        discussion: """
            Starts an embedded broker and worker processes of its own, unless --redis names a server, and takes each \
            measurement --runs times. The ceiling is redis-benchmark of the same scripts on the same server in the same \
            run: with one job a call, with 50, and of one script that claims 50 jobs and finishes them.

            The queues it makes are removed in the end. Measure on a quiet machine; on a server that others use it is a load \
            like any other.

            Examples:
              errand bench
              errand bench --jobs 1000000 --runs 5 --only drain
              errand bench --redis redis://127.0.0.1:6379 --json
            """
    )

    @OptionGroup var brokerOptions: BrokerOptions
    @Option(help: "How many jobs a measurement takes.") var jobs = 100_000
    @Option(help: "How often each measurement is taken; medians are shown.") var runs = 3
    @Option(help: "How many jobs the worker runs at once.") var concurrency = 8
    @Option(
        help: "Only this part: \(BenchMeasurement.Part.allCases.map(\.rawValue).joined(separator: ", ")); repeatable."
    )
    var only: [BenchMeasurement.Part] = []
    @Flag(help: "Print one JSON object on standard output.") var json = false

    func validate() throws {
        guard (1000...10_000_000).contains(jobs) else { throw ValidationError("--jobs must be 1000 to 10000000") }
        guard (1...100).contains(runs) else { throw ValidationError("--runs must be 1 to 100") }
        guard (1...10_000).contains(concurrency) else { throw ValidationError("--concurrency must be 1 to 10000") }
    }

    func run() async throws {
        try await reportingFailures {
            try await BenchPlace.with(brokerOptions) { broker, arguments in
                let stage = BenchStage(
                    broker: broker,
                    brokerArguments: arguments,
                    jobs: jobs,
                    concurrency: concurrency
                )
                let measurements = BenchMeasurement.all.filter { only.isEmpty || only.contains($0.part) }
                let run = BenchRun(stage: stage, measurements: measurements, runs: runs)
                let figures: BenchFigures
                do { figures = try await run.figures() } catch {
                    try await stage.tidyUp()
                    throw error
                }
                try await stage.tidyUp()
                let report = BenchReport(
                    figures: figures,
                    facts: try await .gather(stage),
                    jobs: jobs,
                    runs: runs
                )
                if json { StandardOutput.write(report.json.bytes) } else { report.print() }
            }
        }
    }
}
