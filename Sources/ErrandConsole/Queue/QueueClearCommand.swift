import ArgumentParser
import Errand
import ErrandCommandLine
import ErrandOperator
import ErrandRedis

/// `errand queue clear`.
struct QueueClearCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "clear",
        abstract: "Cancels every job of a queue that waits; running and dead ones stay.",
        discussion: """
            It says how many jobs there are and asks first; --yes does it without asking.

            Example:
              errand queue clear images --yes
            """
    )

    @OptionGroup var target: QueueArgument

    @Flag(help: "Do it without asking.")
    var yes = false

    func run() async throws {
        try await target.options.withBroker { broker in
            let status = try await broker.status(of: target.queue).queue
            guard yes || isConfirmed(status.ready + status.scheduled + status.retrying) else {
                throw CommandFailure("nothing was cancelled", ExitStatus.unsuccessful)
            }
            let cancelled = try await clear(broker)
            let json: JSONOutput = ["queue": .text(target.queue), "cancelled": .count(cancelled)]
            StandardOutput.write(
                target.options.json
                    ? json.bytes : Array("\(cancelled.counted("job")) of \(target.queue) cancelled".utf8)
            )
        }
    }

    private func isConfirmed(_ count: Int) -> Bool {
        Confirmation.ask("Cancel \(count.counted("waiting job")) of queue \(target.queue)?")
    }

    private func clear(_ broker: RedisBroker) async throws(BrokerError) -> Int {
        var cancelled = 0
        while true {
            let count = try await broker.clear(target.queue)
            if count == 0 { return cancelled }
            cancelled += count
        }
    }
}
