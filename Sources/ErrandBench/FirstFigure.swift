import ArgumentParser
import Errand
import ErrandCommandLine
import ErrandRedis
import Foundation
import Logging
import Synchronization

/// Where the executable begins.
@main
enum Program {
    static func main() async {
        ProcessTitle.hidePasswords()
        await FirstFigure.main()
    }
}

/// Measures how many no-op jobs a second one worker process carries with everything on, beside what the server alone
/// can do.
struct FirstFigure: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "errand-bench",
        abstract: "Jobs a second through one worker, beside redis-benchmark of the same claims and finishes.",
        discussion: "Example: errand-bench --jobs 300000 --runs 3"
    )

    @OptionGroup var brokerOptions: BrokerOptions
    @Option(help: "How many jobs a run drains.") var jobs = 200_000
    @Option(help: "How many runs.") var runs = 3
    @Option(help: "How many jobs the worker runs at once.") var concurrency = 8

    func run() async throws {
        try await reportingFailures {
            let logger = CommandLogger.make("errand-bench")
            let open = try brokerOptions.open(as: "errand-bench", logger: logger)
            defer { open.close() }
            var figures = Figures()
            for number in 1...max(1, runs) {
                let bench = Drain(broker: open.broker, queue: "bench-\(getpid())-\(number)", jobs: jobs, logger: logger)
                figures.push.append(try await bench.push())
                figures.drain.append(try await bench.drain(concurrency: concurrency))
                figures.ceiling.append(try await Ceiling(broker: open.broker, jobs: jobs).measure())
                StandardError.write("run \(number): \(figures.last)")
            }
            figures.print(jobs: jobs)
        }
    }
}

/// The rates of all runs, in jobs a second.
struct Figures {
    var push: [Double] = []
    var drain: [Double] = []
    var ceiling: [Double] = []

    var last: String { "push \(rate(push.last)), drain \(rate(drain.last)), ceiling \(rate(ceiling.last))" }

    func print(jobs: Int) {
        StandardOutput.write("jobs a run                                    \(jobs)")
        StandardOutput.write("bulk push, jobs/s                             \(rate(median(push)))")
        StandardOutput.write("drain by one worker, jobs/s                   \(rate(median(drain)))")
        StandardOutput.write("redis-benchmark, claim + finish of 50, jobs/s \(rate(median(ceiling)))")
        if let drain = median(drain), let ceiling = median(ceiling), ceiling > 0 {
            StandardOutput.write(
                "drain / ceiling                               \(String(format: "%.2f", drain / ceiling))"
            )
        }
    }

    private func median(_ values: [Double]) -> Double? {
        values.isEmpty ? nil : values.sorted()[values.count / 2]
    }

    private func rate(_ value: Double?) -> String { value.map { String(Int($0)) } ?? "-" }
}

/// Pushes no-op jobs and drains them by a worker in this process.
struct Drain {
    let broker: RedisBroker
    let queue: String
    let jobs: Int
    let logger: Logger

    func push() async throws -> Double {
        let description = try OperationDescription(
            "noop",
            arguments: ["pad": .init(stringLiteral: padding)],
            queue: queue
        )
        let start = ContinuousClock.now
        let producer = Producer(broker: broker)
        var left = jobs
        while left > 0 {
            let count = min(left, 500)
            _ = try await producer.push(contentsOf: Array(repeating: description, count: count))
            left -= count
        }
        return Double(jobs) / ((ContinuousClock.now - start) / .seconds(1))
    }

    /// So that a body has about 100 bytes.
    private var padding: String { String(repeating: "x", count: 20) }

    func drain(concurrency: Int) async throws -> Double {
        let done = Atomic(0)
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        let total = jobs
        let worker = Worker(
            broker: broker,
            configuration: WorkerConfiguration(queues: [.init(queue)], concurrency: concurrency),
            operations: [
                RegisteredOperation(
                    "noop",
                    handler: .blocking { _ in
                        if done.add(1, ordering: .relaxed).newValue == total { end.finish() }
                        return .finished()
                    }
                )
            ],
            logger: logger
        )
        let start = ContinuousClock.now
        let running = Task { try await worker.run() }
        for await _ in ends {}
        let elapsed = ContinuousClock.now - start
        running.cancel()
        try await running.value
        let status = try await broker.status(of: queue).queue
        guard status.totals["finished"] == jobs else {
            throw CommandFailure(
                "only \(status.totals["finished"]) of \(jobs) jobs were finished",
                ExitStatus.unsuccessful
            )
        }
        return Double(jobs) / (elapsed / .seconds(1))
    }
}
