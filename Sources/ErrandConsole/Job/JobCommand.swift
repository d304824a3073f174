import ArgumentParser

/// The command `errand job`: actions on single jobs.
struct JobCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "job",
        abstract: "Shows, cancels, retries, edits or deletes jobs.",
        discussion: """
            Instead of an id, a unique beginning or end of at least 6 characters will do, with an ellipsis (… or ...) where the \
            rest is missing: tables on a terminal show such ids. The ids that producers generate need no ellipsis.

            Examples:
              errand job show 01KA9ZK9M00001H9J4V5Q6ZBHW
              errand job show 01KA9ZK9M00001…
              errand job retry 01KA9ZK9M00001H9J4V5Q6ZBHW --queue images
            """,
        subcommands: [
            JobShowCommand.self, JobCancelCommand.self, JobRetryCommand.self, JobEditCommand.self,
            JobDeleteCommand.self,
        ]
    )
}
