import ArgumentParser
import Errand
import ErrandCommandLine
import ErrandRedis
import Logging

/// The command of one worker process of the demo. It exits when its standard input is closed.
struct DemoWorkerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo-worker",
        abstract: "One worker process of the demo; it ends with its standard input.",
        shouldDisplay: false
    )

    @Option(help: ArgumentHelp("The directory of the demo's embedded broker.", valueName: "dir"))
    var embedded: String

    @Option(
        help: ArgumentHelp("How long claims live without a heartbeat. (default: 2s)", valueName: "duration"),
        transform: { try DurationArgument(parsing: $0) }
    )
    var lease = DurationArgument(.seconds(2))

    @Option(help: "How many jobs run at once.")
    var concurrency = 4

    @Option(help: ArgumentHelp("Return a wrong checksum for this file.", valueName: "file"))
    var spoil: String?

    func run() async throws {
        let life = Lifeline()
        try await reportingFailures {
            let joined = try EmbeddedBroker.join(embedded)
            defer { joined.leave() }
            let logger = CommandLogger.make("errand-demo-worker")
            let options = ConnectionOptions(clientName: "errand-demo-worker")
            let broker = RedisBroker(joined.address, options: options, logger: logger)
            defer { broker.close() }
            let worker = Worker(
                broker: broker,
                configuration: WorkerConfiguration(
                    queues: [.init(DemoOperations.queue)],
                    concurrency: max(1, concurrency),
                    lease: lease.duration
                ),
                operations: DemoOperations.registered(corrupting: spoil),
                logger: logger
            )
            let working = Task { try await worker.run() }
            life.onEnd { working.cancel() }
            try await working.value
        }
    }
}
