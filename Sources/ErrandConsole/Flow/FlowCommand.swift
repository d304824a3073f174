import ArgumentParser

/// The command `errand flow`.
struct FlowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "flow",
        abstract: "Shows and changes the rules for groups of jobs and for whole queues: limits, rates and shares.",
        discussion: """
            Examples:
              errand flow set mail 'tenant-*' --at-once 4
              errand flow list mail
              errand flow show mail tenant-7
            """,
        subcommands: [FlowSetCommand.self, FlowListCommand.self, FlowDeleteCommand.self, FlowShowCommand.self]
    )
}

/// The pattern of the groups that a rule is for.
struct FlowPatternArgument: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "The groups: one or two parts with a slash between, * for any characters; '' for the whole queue.",
            valueName: "pattern"
        )
    )
    var pattern: String
}
