import ArgumentParser
import Errand
import ErrandCommandLine
import ErrandOperator
import ErrandRedis

/// The command `errand queue clear`.
struct QueueClearCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "clear",
        abstract: "Cancels every waiting job of a queue; running and dead jobs stay.",
        discussion: """
            A successor that waits for a running job is cancelled, too, and the running job continues.

            On a terminal it prints the number of jobs and asks for confirmation; --yes skips the question.

            Example:
              errand queue clear images --yes
            """
    )

    @OptionGroup var target: QueueArgument

    @Flag(help: "Do not ask for confirmation.")
    var yes = false

    func run() async throws {
        try await target.options.withBroker { broker in
            try await broker.checkExists(target.queue)
            try await confirm(broker)
            let cancelled = try await clear(broker)
            let json: JSONOutput = ["queue": .text(target.queue), "cancelled": .count(cancelled)]
            StandardOutput.write(
                target.options.json
                    ? json.bytes : Array("\(cancelled.counted("job")) of \(target.queue) cancelled".utf8)
            )
        }
    }

    /// Clears the queue. If the broker fails in the middle, the failure has the number of jobs cancelled so far.
    private func clear(_ broker: RedisBroker) async throws -> Int {
        var cancelled = 0
        do throws(BrokerError) {
            return try await QueueClearing(of: target.queue, on: broker).run { cancelled = $0 }
        } catch {
            guard cancelled > 0 else { throw error }
            let failure = CommandFailure(error)
            let done = "\(cancelled.counted("job")) of \(target.queue) cancelled, then the broker failed"
            throw CommandFailure("\(done): \(failure.message)", failure.status)
        }
    }

    /// Asks for confirmation on a terminal; programs are not asked.
    private func confirm(_ broker: RedisBroker) async throws {
        guard !yes, Terminal.writesStandardInput else { return }
        let count = try await QueueClearing(of: target.queue, on: broker).count()
        guard Confirmation.ask("Cancel \(count.counted("waiting job")) of queue \(target.queue)?") else {
            throw CommandFailure("nothing was cancelled; --yes skips the question", ExitStatus.unsuccessful)
        }
    }
}
