import ArgumentParser

/// The command `errand job`: actions on single jobs.
struct JobCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "job",
        abstract: "Shows, cancels, retries, edits or deletes jobs.",
        discussion: """
            Examples:
              errand job show 01KA9ZK9M00001H9J4V5Q6ZBHW
              errand job retry 01KA9ZK9M00001H9J4V5Q6ZBHW --queue images
            """,
        subcommands: [
            JobShowCommand.self, JobCancelCommand.self, JobRetryCommand.self, JobEditCommand.self,
            JobDeleteCommand.self,
        ]
    )
}
