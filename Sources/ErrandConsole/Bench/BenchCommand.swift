import ArgumentParser
import ErrandCommandLine
import ErrandOperator
import ErrandRedis
import ErrandText
import Foundation

/// The command that measures throughput, latency and memory of a broker and its workers on this machine.
struct BenchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench",
        abstract: "Measures jobs a second, latency and memory, compared with the server alone.",
        discussion: """
            Starts an embedded broker and worker processes of its own, and takes each measurement --runs times. As \
            everywhere, --redis, ERRAND_REDIS_URL or REDIS_URL select another server; a warning then says so first, because \
            the benchmark puts a load on it.

            The ceiling is redis-benchmark of the same scripts on the same server in the same run: with one job a call, \
            with 50, and of one script that claims 50 jobs and finishes them; of 50 the highest rate counts, with one call \
            at a time, two connections or four calls ahead. On a server with a password it is left out.

            It first says about how long it takes (by default eight minutes, most of them for pick-ups: --probes), and shows \
            its progress on a terminal.

            Its queues are removed after each measurement, and no others are touched. Measure on a quiet machine; \
            on a server that others use it is a load like any other.

            Examples:
              errand bench
              errand bench --jobs 1000000 --runs 5 --only drain
              errand bench --only memory
              errand bench --only drain --workers 2
              errand bench --only drain --against ../before/errand --runs 15
              errand bench --growth --plot growth.svg
              errand bench --growth --axis queues --runs 5
              errand bench --redis redis://127.0.0.1:6379 --json
            """
    )

    @OptionGroup var brokerOptions: BrokerOptions
    @Option(help: "The number of jobs in a measurement.") var jobs = 100_000
    @Option(help: "How often each measurement is repeated; medians are shown. Default: 3, and 1 for long measurements.")
    var runs: Int?
    @Option(help: "How many worker processes drain.") var workers = 1
    @Option(help: "How many jobs a worker runs at once.") var concurrency = 8
    @Option(
        help: "Only this part: \(BenchMeasurement.Part.allCases.map(\.rawValue).joined(separator: ", ")); repeatable."
    )
    var only: [BenchMeasurement.Part] = []
    @Option(help: "How many pick-ups by idle workers a run times, about one a second.") var probes = 60
    @Flag(
        help: ArgumentHelp(
            "Measure instead how costs grow with waiting jobs, workers, queues and bodies.",
            discussion: """
                A push, a drain and the memory of a job at each point, and what idle workers send; some minutes and gigabytes.
                """
        )
    )
    var growth = false
    @Option(
        help: ArgumentHelp(
            "With --growth: only this axis: \(GrowthAxis.allCases.map(\.rawValue).joined(separator: ", ")); repeatable.",
            valueName: "axis"
        )
    )
    var axis: [GrowthAxis] = []
    @Option(help: ArgumentHelp("With --growth: draw the curves into this file.", valueName: "file.svg"))
    var plot: String?
    @Option(help: ArgumentHelp("With --growth: the most jobs that wait at once.", valueName: "jobs"))
    var mostWaiting = 5_000_000
    @Option(
        help: ArgumentHelp(
            "Compare with another build: both measure in alternation, --runs pairs, 5 by default.",
            discussion: "Prints each figure's ratio to that of the other build, with an interval from six pairs on.",
            valueName: "errand"
        ),
        completion: .file()
    )
    var against: String?
    @Flag(help: "Print one JSON object on standard output.") var json = false

    func validate() throws {
        guard (1000...10_000_000).contains(jobs) else { throw ValidationError("--jobs must be 1000 to 10000000") }
        guard (1...100).contains(runs ?? 1) else { throw ValidationError("--runs must be 1 to 100") }
        guard (1...10_000).contains(probes) else { throw ValidationError("--probes must be 1 to 10000") }
        guard (10_000...10_000_000).contains(mostWaiting) else {
            throw ValidationError("--most-waiting must be 10000 to 10000000")
        }
        guard growth || plot == nil else { throw ValidationError("--plot goes with --growth") }
        guard growth || axis.isEmpty else { throw ValidationError("--axis goes with --growth") }
        guard !growth || only.isEmpty else { throw ValidationError("--only does not go with --growth") }
        guard against == nil || brokerOptions.embedded == nil else {
            throw ValidationError(
                "--against does not go with --embedded: leave it out; each run then has an embedded server of its own, unless "
                    + "--redis or the environment names one"
            )
        }
        guard !growth || against == nil else { throw ValidationError("--against does not go with --growth") }
        guard (1...100).contains(workers) else { throw ValidationError("--workers must be 1 to 100") }
        guard !growth || workers == 1 else {
            throw ValidationError("--workers does not go with --growth, which has an axis of workers")
        }
        guard (1...10_000).contains(concurrency) else { throw ValidationError("--concurrency must be 1 to 10000") }
    }

    func run() async throws {
        try await reportingFailures {
            if let against { return try await compare(with: against) }
            // Print the results after the cleanup, because output that cannot be written ends the command.
            let show = try await BenchPlace.with(brokerOptions) { broker, url in
                let stage = BenchStage(
                    broker: broker,
                    brokerURL: url,
                    hasOwnServer: !brokerOptions.namesBroker,
                    jobs: jobs,
                    workers: workers,
                    concurrency: concurrency,
                    probes: probes
                )
                let measured: () throws -> Void
                do {
                    measured = growth ? try await measureGrowth(on: stage) : try await measureFigures(on: stage)
                } catch {
                    try await stage.tidyUp()
                    throw error
                }
                try await stage.tidyUp()
                return measured
            }
            try show()
        }
    }

    private func compare(with other: String) async throws {
        let pairs = runs ?? 5
        let bench = PairedBench(
            other: other,
            arguments: [
                "bench", "--json", "--runs", "1", "--jobs", "\(jobs)", "--workers", "\(workers)",
                "--concurrency", "\(concurrency)", "--probes", "\(probes)",
            ] + only.flatMap { ["--only", $0.rawValue] },
            environment: brokerOptions.url.map { ["ERRAND_REDIS_URL": $0] } ?? [:],
            pairs: pairs
        )
        let report = PairedReport(figures: try await bench.figures(), other: other, pairs: pairs)
        if json { StandardOutput.write(report.json.bytes) } else { report.print() }
    }

    private var often: BenchRuns { BenchRuns(asked: runs) }

    /// Measures, and returns a closure that shows the results.
    private func measureFigures(on stage: BenchStage) async throws -> () throws -> Void {
        let run = BenchRun(stage: stage, measurements: try await measurements(on: stage), runs: often)
        let figures = try await run.figures()
        let facts = try await BenchFacts.gather(stage, runs: often)
        let report = BenchReport(figures: figures, facts: facts, jobs: jobs, runs: often.count())
        return { if json { StandardOutput.write(report.json.bytes) } else { report.print() } }
    }

    /// Returns the requested measurements, without the ceilings if the server cannot be measured alone.
    private func measurements(on stage: BenchStage) async throws -> [BenchMeasurement] {
        let asked = BenchMeasurement.all.filter { only.isEmpty || only.contains($0.part) }
        guard try await !CeilingBench(stage: stage).isPossible() else { return asked }
        StandardError.write(
            "the server alone is not measured: redis-benchmark knows no sentinels, and takes a password only as an argument, "
                + "which others can read"
        )
        return asked.filter { !$0.isCeiling }
    }

    private func measureGrowth(on stage: BenchStage) async throws -> () throws -> Void {
        let axes = GrowthAxis.allCases.filter { axis.isEmpty || axis.contains($0) }
        let points = try await GrowthBench(stage: stage, axes: axes, most: mostWaiting, runs: often).points()
        let report = GrowthReport(points: points, facts: try await .gather(stage, runs: often))
        return {
            if json { StandardOutput.write(report.json.bytes) } else { report.print() }
            if let plot { try draw(points, into: plot) }
        }
    }

    private func draw(_ points: [GrowthPoint], into plot: String) throws {
        do { try Data(GrowthPlot(points: points).svg.utf8).write(to: URL(fileURLWithPath: plot)) } catch {
            throw CommandFailure("cannot write \(plot): \(FileProblem.words(for: error))", ExitStatus.notWritten)
        }
    }
}
