import ArgumentParser
import Errand
import ErrandCommandLine
import ErrandOperator
import ErrandRedis

/// `errand queue`: what can be done with a whole queue.
struct QueueCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "queue",
        abstract: "Pauses, resumes, clears, limits and configures queues.",
        discussion: """
            Examples:
              errand queue pause images
              errand queue clear images --yes
              errand queue limit images 100000
              errand queue set images events 100000
            """,
        subcommands: [
            QueuePauseCommand.self, QueueResumeCommand.self, QueueClearCommand.self, QueueLimitCommand.self,
            QueueSetCommand.self,
        ]
    )
}

/// Which queue is meant.
struct QueueArgument: ParsableArguments {
    @Argument(help: ArgumentHelp("The queue.", valueName: "queue"))
    var queue: String

    @OptionGroup var options: ConsoleOptions

    func validate() throws { try QueueRule.check(queue) }

    /// Changes the queue's settings and tells so.
    func configure(_ change: QueueSettings, json: JSONOutput, words: String) async throws {
        try await options.withBroker { broker in
            try await broker.configure(queue, change)
            StandardOutput.write(options.json ? json.bytes : Array(words.utf8))
            if !(try await broker.queues()).contains(queue) {
                StandardError.write("note: no job has been pushed to queue \(queue) yet, and no worker serves it")
            }
        }
    }
}
