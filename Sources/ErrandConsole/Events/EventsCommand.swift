import ArgumentParser
import Errand
import ErrandCommandLine
import ErrandRedis

/// `errand events`.
struct EventsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "events",
        abstract: "Shows events as they come, until it is interrupted.",
        discussion: """
            Without --queue: of every queue, also of those made later. Events are hints: while the connection is lost, \
            some are missed. With --json, each event is an object on a line of its own.

            Examples:
              errand events
              errand events --queue images --operation thumbnail --json
            """
    )

    @OptionGroup var queues: QueueOptions

    @Option(
        name: .customLong("operation"),
        help: ArgumentHelp("Only events of this operation; may be given several times.", valueName: "operation")
    )
    var operations: [String] = []

    @OptionGroup var options: ConsoleOptions

    func run() async throws {
        let interruption = Interruption()
        try await options.withBroker { broker in
            // A subscription alone would wait for ever for a broker that is not there, or does not permit it.
            try await broker.ping()
            let writer = EventWriter(asJSON: options.json, operations: Set(operations))
            let named = queues.named
            let events = broker.events(of: named.isEmpty ? nil : named) {
                StandardError.write("listening to \(named.isEmpty ? "every queue" : named.joined(separator: ", "))")
            }
            let writing = Task { for try await message in events { writer.write(message) } }
            for await _ in interruption.signals { break }
            writing.cancel()
        }
    }
}
