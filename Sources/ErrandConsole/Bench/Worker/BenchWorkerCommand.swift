import ArgumentParser
import Errand
import ErrandCommandLine
import ErrandRedis
import Logging

/// One worker process of the benchmark. It ends with its standard input.
struct BenchWorkerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench-worker",
        abstract: "One worker process of the benchmark; it ends with its standard input.",
        shouldDisplay: false
    )

    @OptionGroup var brokerOptions: BrokerOptions
    @Option(name: .customLong("queue"), help: "A queue to serve; repeatable.") var queues: [String]
    @Option(help: "How many jobs a worker runs at once.") var concurrency = 8
    @Option(help: "How many workers in this process, each with connections of its own.") var sessions = 1

    func run() async throws {
        let life = Lifeline()
        try await reportingFailures {
            let logger = CommandLogger.make("errand-bench-worker")
            let opened = try (0..<max(1, sessions)).map { _ in
                try brokerOptions.open(as: "errand-bench-worker", quiet: true, logger: logger)
            }
            defer { for open in opened { open.close() } }
            let operations = try BenchOperations.all
            let workers = opened.map { open in
                Worker(
                    broker: open.broker,
                    configuration: WorkerConfiguration(
                        queues: queues.map { .init($0) },
                        concurrency: max(1, concurrency)
                    ),
                    operations: operations,
                    logger: logger,
                    onEvent: { if case .registered = $0 { BenchLine.registered.write() } }
                )
            }
            let working = Task { try await Self.run(workers) }
            life.onEnd { working.cancel() }
            try await working.value
        }
    }

    private static func run(_ workers: [Worker]) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for worker in workers { group.addTask { try await worker.run() } }
            try await group.waitForAll()
        }
    }
}
