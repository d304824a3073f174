import ArgumentParser
import Errand
import ErrandCommandLine
import ErrandOperator
import ErrandRedis

/// The command `errand top`.
struct TopCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "top",
        abstract: "Shows queues, rates, workers and failures live in the whole terminal.",
        discussion: """
            Keys: up and down select a queue; p pauses or resumes it, r retries its dead jobs, c cancels its waiting jobs; q \
            quits. Keys that change many jobs ask for confirmation.

            Examples:
              errand top
              errand top --queue images --every 5s
            """
    )

    @OptionGroup var queues: QueueOptions

    @Option(
        help: ArgumentHelp("The interval between updates, at least 100ms. (default: 1s)", valueName: "d"),
        transform: { try DurationArgument(parsing: $0) }
    )
    var every = DurationArgument(.seconds(1))

    @OptionGroup(title: "Broker") var broker: BrokerOptions

    func validate() throws {
        if every.duration < .milliseconds(100) { throw ValidationError("--every must be 100ms or more") }
    }

    func run() async throws {
        let interruption = Interruption()
        try await broker.withBroker(as: "errand", patience: .seconds(5), quiet: broker.namesBroker) { broker in
            _ = try await ReplyNotice.whileWaiting(for: broker) { try await queues.queues(of: broker) }
            guard let screen = TerminalScreen() else {
                throw CommandFailure(
                    "errand top needs a terminal; for programs there is errand status --json",
                    ExitStatus.usage
                )
            }
            defer { screen.leave() }
            let session = TopSession(broker: broker, named: queues.named, every: every.duration, screen: screen)
            try await session.run(until: interruption)
        }
    }
}
