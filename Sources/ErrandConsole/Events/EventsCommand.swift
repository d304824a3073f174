import ArgumentParser
import Errand
import ErrandCommandLine
import ErrandRedis

/// The command `errand events`.
struct EventsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "events",
        abstract: "Shows events as they are published, until interrupted.",
        discussion: """
            Without --queue it shows the events of every queue, including queues created later. Events that are published \
            while the connection is lost are missed. With --json, each event is an object on a line of its own.

            With --after it reads one queue's durable stream, which keeps the latest events (errand queue set), from the \
            oldest or after a cursor. It prints the last cursor at the end, and reports missing events as a gap.

            Examples:
              errand events
              errand events --queue images --operation thumbnail --json
              errand events --queue images --after oldest
              errand events --queue images --after 1795215724000-42
            """
    )

    @OptionGroup var queues: QueueOptions

    @Option(
        name: .customLong("operation"),
        help: ArgumentHelp("Only events of this operation; may be given several times.", valueName: "operation")
    )
    var operations: [String] = []

    @Option(help: ArgumentHelp("Start with kept events: oldest, or a cursor to start after.", valueName: "cursor"))
    var after: String?

    @OptionGroup var options: ConsoleOptions

    func validate() throws {
        guard let after else { return }
        guard queues.named.count == 1 else { throw ValidationError("--after needs the name of one --queue") }
        guard cursor != nil else {
            throw ValidationError(
                "\"\(after.onOneLine())\" is not a cursor: oldest, or two numbers such as 1795215724000-42"
            )
        }
    }

    private var cursor: EventCursor? { after == "oldest" ? .oldest : after.flatMap(EventCursor.init) }

    func run() async throws {
        if let cursor, let queue = queues.named.first { return try await follow(queue, after: cursor) }
        let interruption = Interruption()
        try await options.withBroker { broker in
            // A subscription alone would wait forever for a broker that is not reachable or permits no access.
            try await broker.ping()
            try await noteMissing(broker)
            let writer = EventWriter(asJSON: options.json, operations: Set(operations))
            let named = queues.named
            let events = broker.events(of: named.isEmpty ? nil : named) {
                StandardError.write("listening to \(named.isEmpty ? "every queue" : named.joined(separator: ", "))")
            }
            let writing = Task { for try await message in events { writer.write(message) } }
            let stopping = Task {
                for await _ in interruption.signals { break }
                writing.cancel()
            }
            defer { stopping.cancel() }
            // The task ends by itself only if the broker does not permit the subscription.
            try await writing.value
        }
    }

    /// Notes queues that do not exist. A user may wait for events before the first push creates the queue, but should
    /// notice a misspelled name.
    private func noteMissing(_ broker: RedisBroker) async throws(BrokerError) {
        for queue in try await queues.known(to: broker).missing {
            StandardError.write("note: queue \(queue) does not exist yet; its events come once it does")
        }
    }

    /// Writes the events of the durable stream as they are published, and reports the last cursor at the end.
    private func follow(_ queue: String, after cursor: EventCursor) async throws {
        let interruption = Interruption()
        let writer = EventWriter(asJSON: options.json, operations: Set(operations))
        let last = try await options.withBroker { broker in
            try await broker.ping()
            try await noteMissing(broker)
            let reading = Task {
                var last = cursor
                for try await next in broker.eventStream(of: queue, after: cursor) {
                    writer.write(next, of: queue)
                    last = next.cursor
                }
                return last
            }
            let stopping = Task {
                for await _ in interruption.signals { break }
                reading.cancel()
            }
            defer { stopping.cancel() }
            return try await reading.value
        }
        StandardError.write("continue with --after \(last == .oldest ? "oldest" : last.description)")
    }
}
