import ArgumentParser
import Errand
import ErrandCommandLine
import ErrandRedis
import Foundation
import Logging

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// One worker process of the demo. It ends with its standard input.
struct DemoWorkerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo-worker",
        abstract: "One worker process of the demo; it ends with its standard input.",
        shouldDisplay: false
    )

    @Option(help: ArgumentHelp("The directory of the demo's embedded broker.", valueName: "dir"))
    var embedded: String

    @Option(help: ArgumentHelp("How long claims live without a heartbeat.", valueName: "duration"))
    var lease = DurationArgument(.seconds(2))

    @Option(help: "How many jobs run at once.")
    var concurrency = 4

    @Option(help: ArgumentHelp("Answer a wrong checksum for this file.", valueName: "file"))
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
                operations: DemoOperations.registered(spoiling: spoil),
                logger: logger
            )
            let working = Task { try await worker.run() }
            life.onEnd { working.cancel() }
            try await working.value
        }
    }
}

/// The pipe on standard input, whose other end the demo holds: it ends when the demo has ended, or wants the worker to.
private final class Lifeline: Sendable {
    private let (ends, end) = AsyncStream.makeStream(of: Void.self)

    init() {
        let thread = Thread { [end] in
            Self.awaitEnd()
            end.finish()
            // Giving claims back takes no time; a worker that cannot must not outlive the demo for it.
            Thread.sleep(forTimeInterval: 3)
            _exit(0)
        }
        thread.name = "errand-lifeline"
        thread.start()
    }

    func onEnd(_ leave: @escaping @Sendable () -> Void) {
        Task { [ends] in
            for await _ in ends {}
            leave()
        }
    }

    private static func awaitEnd() {
        var byte: UInt8 = 0
        while true {
            let count = read(0, &byte, 1)
            if count == 0 || (count < 0 && errno != EINTR) { return }
        }
    }
}
