import ArgumentParser

/// The command `errand jobs`: actions on many jobs.
struct JobsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "jobs",
        abstract: "Lists jobs, and retries, cancels, deletes, exports or imports many at once.",
        discussion: """
            Without a subcommand it lists jobs; errand jobs list --help has the filters.

            Examples:
              errand jobs --state dead --queue images
              errand jobs --operation thumbnail --error timeout --since 2h
              errand jobs retry --queue images --error timeout
              errand jobs export --state dead > dead.ndjson
            """,
        subcommands: [
            JobsListCommand.self, JobsRetryCommand.self, JobsCancelCommand.self, JobsDeleteCommand.self,
            JobsExportCommand.self, JobsImportCommand.self,
        ],
        defaultSubcommand: JobsListCommand.self
    )
}
