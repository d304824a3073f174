import ArgumentParser
import Errand
import ErrandCommandLine
import ErrandOperator
import ErrandRedis

/// The command `errand queue`: actions on a whole queue.
struct QueueCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "queue",
        abstract: "Creates, deletes, pauses, resumes, clears, limits and configures queues.",
        discussion: """
            Pushes, workers and errand queue create make queues. All other commands work on queues that exist.

            Examples:
              errand queue create images
              errand queue pause images
              errand queue clear images --yes
              errand queue limit images 100000
              errand queue set images events 100000
            """,
        subcommands: [
            QueueCreateCommand.self, QueueDeleteCommand.self, QueuePauseCommand.self, QueueResumeCommand.self,
            QueueClearCommand.self, QueueLimitCommand.self, QueueSetCommand.self,
        ]
    )
}

/// The argument of commands on one queue.
struct QueueArgument: ParsableArguments {
    @Argument(help: ArgumentHelp("The queue.", valueName: "queue"), completion: QueueCompletion.kind)
    var queue: String

    @OptionGroup var options: ConsoleOptions

    func validate() throws { try QueueRule.check(queue) }

    /// Changes the queue's settings and reports that.
    func configure(_ change: QueueSettings, json: JSONOutput, words: String) async throws {
        try await options.withBroker { broker in
            try await broker.configure(queue, change)
            StandardOutput.write(options.json ? json.bytes : Array(words.utf8))
        }
    }
}
