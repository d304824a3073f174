import ArgumentParser
import Errand
import ErrandRedis
import Foundation
import Logging
import ServiceLifecycle
import UnixSignals

/// A worker with the handlers of the fault scenarios, which record their runs in a ledger outside Redis.
///
/// It only uses the library, like a custom worker.
@main
struct FaultWorker: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "errand-fault-worker", abstract: "For fault tests.")

    @Option var redis: String
    @Option var queue: [String]
    @Option var ledger: String
    @Option(help: "Milliseconds.") var lease = 2000
    @Option(help: "Milliseconds.") var grace = 10000
    @Option var concurrency = 4
    @Option(help: "Milliseconds.") var stopGrace = 500
    @Option(help: "How many handlers may run on.") var overruns: Int?
    @Option(help: "Milliseconds.") var stuckAfter = 60000
    @Option(help: "Operations that this worker does not know.") var without: [String] = []
    @Flag(help: "Tells when no task finds a thread in the task pool.") var watchPool = false
    @Flag(help: "Goes on when its task pool was blocked, as a web backend with a worker in it does.") var goesOn = false
    @Option(help: "How many workers are in this process, each with a session and connections of its own.") var count = 1

    func run() async throws {
        let logger = Logger(label: "errand-fault-worker") { label in
            var handler = StreamLogHandler.standardError(label: label)
            handler.logLevel = ProcessInfo.processInfo.environment["LOG_LEVEL"] == "trace" ? .trace : .info
            return handler
        }
        let writer = try LedgerWriter(ledger)
        let brokers = try (0..<count).map { _ in try broker(logger) }
        defer { for broker in brokers { broker.close() } }
        if watchPool { PoolWatch().start() }
        let group = ServiceGroup(
            services: brokers.map { worker(LedgerBroker(broker: $0, ledger: writer), logger) },
            gracefulShutdownSignals: [.sigterm, .sigint],
            logger: logger
        )
        do { try await group.run() } catch let stuck as WorkerStuck {
            FileHandle.standardError.write(Data("stuck: \(stuck)\n".utf8))
            throw ExitCode(70)
        }
    }

    private func broker(_ logger: Logger) throws -> RedisBroker {
        let options = ConnectionOptions(
            connectTimeout: .seconds(1),
            commandTimeout: .milliseconds(max(lease / 2, 500)),
            patience: .milliseconds(lease),
            clientName: "errand-fault-worker"
        )
        return RedisBroker(try RedisAddress(url: redis), options: options, logger: logger)
    }

    private func worker(_ broker: LedgerBroker, _ logger: Logger) -> Worker {
        Worker(
            broker: broker,
            configuration: WorkerConfiguration(
                queues: queue.map { .init($0) },
                concurrency: concurrency,
                lease: .milliseconds(lease),
                grace: .milliseconds(grace),
                stopGrace: .milliseconds(stopGrace),
                mostOverruns: overruns,
                stuckAfter: .milliseconds(stuckAfter)
            ),
            operations: FaultOperations(ledger: broker.ledger).all.filter { !without.contains($0.name) },
            logger: logger,
            onEvent: { [goesOn] in Self.tell($0, goesOn: goesOn) }
        )
    }

    /// Writes one line an event for the parent process.
    private static func tell(_ event: WorkerEvent, goesOn: Bool) {
        let line =
            switch event {
            case .registered(let session): "registered \(session.id)"
            case .sessionLost(let session): "lost \(session.id)"
            case .waitingForBroker: "waiting"
            case .queuesUnavailable(let queues): "unavailable \(queues.joined(separator: " "))"
            case .queueRegistered(let queue): "serves \(queue)"
            case .stuck(let stuck): "stuck \(stuck)"
            case .stopping: "stopping"
            case .stopped: "stopped"
            }
        FileHandle.standardOutput.write(Data((line + "\n").utf8))
        // With every thread of the task pool blocked, nothing else ends the process.
        if case .stuck(let stuck) = event, !stuck.endsWorker, !goesOn { Foundation.exit(70) }
    }
}
