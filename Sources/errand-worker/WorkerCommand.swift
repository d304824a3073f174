import ArgumentParser
import Errand
import ErrandCatalogue
import ErrandCommandLine
import Logging

/// The entry point of the executable.
@main
enum Program {
    static func main() async {
        ProcessStart.prepare()
        Daemon.begin()
        MemoryPools.share()
        await WorkerCommand.start()
    }
}

/// The command that runs the jobs of a catalogue's operations until a signal stops it.
struct WorkerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "errand-worker",
        abstract: "Claims jobs and runs them.",
        discussion: """
            The catalogue (YAML or JSON) defines the operations and how each is run. A job of another operation waits for a \
            worker that has it. The catalogue's schedules are stored in the broker at the start; they tick while any \
            worker serves their queue.

            Example:
              errand-worker --catalogue catalogue.yaml --queue files:3 --queue mail --concurrency 16

            The first SIGTERM, SIGINT or SIGHUP ends it gracefully: it claims no more jobs, lets running jobs end \
            for the grace, then stops and releases the rest without spending an attempt. A second SIGTERM or SIGINT, at least \
            500 ms later, or a SIGQUIT stops and releases running jobs within a second.
            """,
        version: ErrandVersion.current
    )

    @OptionGroup var brokerOptions: BrokerOptions

    @Option(help: ArgumentHelp("The operations catalogue.", valueName: "file"))
    var catalogue: String

    @Option(
        name: .customLong("queue"),
        help: ArgumentHelp(
            "A queue to serve, with its weight; repeatable. By default the queues of the catalogue, and default.",
            valueName: "queue[:weight]"
        ),
        transform: { try QueueArgument(parsing: $0) }
    )
    var queues: [QueueArgument] = []

    @Option(help: "How many jobs run at once.")
    var concurrency = 8

    @Option(
        help: ArgumentHelp(
            "How long claims last without a heartbeat; after that other workers recover the jobs. (default: 30s)",
            valueName: "duration"
        ),
        transform: { try DurationArgument(parsing: $0) }
    )
    var lease = DurationArgument(.seconds(30))

    @Option(
        help: ArgumentHelp("The longest duration of a graceful shutdown. (default: 25s)", valueName: "duration"),
        transform: { try DurationArgument(parsing: $0) }
    )
    var grace = DurationArgument(.seconds(25))

    @Flag(help: "Write events of the worker as JSON lines on standard output.")
    var json = false

    @Option(
        help: ArgumentHelp(
            "The version of what the catalogue runs, which operators see; by default that of Errand.",
            valueName: "text"
        )
    )
    var versionLabel: String?

    @Flag(help: "Also log each job that has finished.")
    var logJobs = false

    @Flag(help: "Also log debug messages.")
    var verbose = false

    @Option(help: "The format of the log on standard error: text, or json with an object a line.")
    var logFormat = LogFormat.text

    @OptionGroup var metrics: MetricsOptions

    func validate() throws {
        guard (1...10_000).contains(concurrency) else { throw ValidationError("--concurrency must be 1 to 10000") }
        guard lease.duration >= .milliseconds(500), lease.duration <= .seconds(86400) else {
            throw ValidationError("--lease must be 500ms to 1d")
        }
        let names = queues.map(\.name)
        if let name = names.indices.first(where: { names[..<$0].contains(names[$0]) }).map({ names[$0] }) {
            throw ValidationError("--queue \(name) is given twice")
        }
    }

    func run() async throws {
        if logFormat == .json { StandardError.writeEntries(of: "errand-worker") }
        try await reportingFailures {
            let path = Catalogue.path(of: self.catalogue)
            let catalogue = try Catalogue(contentsOf: catalogue)
            let schedules = try catalogue.makeSchedules()
            let logger = CommandLogger.make(
                "errand-worker",
                level: verbose ? .debug : logJobs ? .info : .notice,
                format: logFormat
            )
            let files = OpenFiles.makeRoom(for: concurrency)
            if files.limit < files.wanted {
                logger.warning(
                    "the limit of open files is \(files.limit), and should be \(files.wanted) for --concurrency \(concurrency): commands that have no room are tried again until they have. Raise it (ulimit -Hn, LimitNOFILE)"
                )
            }
            let open = try brokerOptions.open(as: "errand-worker", patience: .seconds(2), logger: logger)
            defer { open.close() }
            let process = WorkerProcess()
            let removed = RemovedSchedules(broker: open.broker, file: path, declared: schedules)
            let warnings = ServerWarnings(of: open.broker, removed, to: logger)
            let measuring = try Measuring(metrics, of: "worker")
            let worker = Worker(
                broker: open.broker,
                configuration: configuration(for: catalogue, schedules),
                operations: catalogue.registeredOperations(userAgent: "errand-worker/\(ErrandVersion.current)"),
                schedules: schedules,
                middleware: measuring.middleware,
                logger: logger,
                onEvent: { [grace, json] event in
                    if case .stuck = event { process.endStuck(after: grace.duration + .seconds(5)) }
                    if json { WorkerReport(event).write() }
                    if case .registered = event { warnings.tellOnce() }
                }
            )
            do {
                try await measuring.during(logger) {
                    if let status = try await process.run(worker) { throw ExitCode(status) }
                }
            } catch let stuck as WorkerStuck {
                throw CommandFailure("\(stuck)", ExitStatus.stuck)
            }
            warnings.end()
        }
    }

    private func configuration(for catalogue: Catalogue, _ schedules: [Schedule]) -> WorkerConfiguration {
        let named = queues.map { WorkerConfiguration.QueueShare($0.name, weight: $0.weight) }
        let usual = Set(catalogue.queues + schedules.map(\.queue) + ["default"]).sorted().map {
            WorkerConfiguration.QueueShare($0)
        }
        var configuration = WorkerConfiguration(
            queues: named.isEmpty ? usual : named,
            concurrency: concurrency,
            lease: lease.duration,
            grace: grace.duration,
            logsFinishedJobs: logJobs,
            version: versionLabel ?? "errand \(ErrandVersion.current)"
        )
        configuration.endProcesses = WorkerProcess.endCommands
        return configuration
    }
}
