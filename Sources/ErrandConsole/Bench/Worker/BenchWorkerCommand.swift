import ArgumentParser
import Errand
import ErrandCommandLine
import ErrandRedis
import Logging

/// The command of one worker process of the benchmark. It reads the broker's URL from standard input and exits when
/// that is closed.
struct BenchWorkerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench-worker",
        abstract: "One worker process of the benchmark; it ends with its standard input.",
        shouldDisplay: false
    )

    @Option(name: .customLong("queue"), help: "A queue to serve; repeatable.") var queues: [String]
    @Option(help: "How many jobs a worker runs at once.") var concurrency = 8
    @Option(help: "How many workers in this process, each with connections of its own.") var sessions = 1

    func run() async throws {
        guard let url = readLine() else { return }
        let life = Lifeline()
        try await reportingFailures {
            let address = try RedisAddress(url: url)
            let logger = CommandLogger.make("errand-bench-worker")
            let options = ConnectionOptions(clientName: "errand-bench-worker")
            let brokers = (0..<max(1, sessions)).map { _ in
                RedisBroker(address, options: options, logger: logger)
            }
            defer { for broker in brokers { broker.close() } }
            let operations = try BenchOperations.all
            let workers = brokers.map { broker in
                Worker(
                    broker: broker,
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
            BenchLine.used(.now).write()
        }
    }

    private static func run(_ workers: [Worker]) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for worker in workers { group.addTask { try await worker.run() } }
            try await group.waitForAll()
        }
    }
}
