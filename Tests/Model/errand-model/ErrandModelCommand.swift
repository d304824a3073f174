import ArgumentParser

/// Checks of the transitions.
@main
struct ErrandModelCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "errand-model",
        abstract: "Checks that the queue in memory keeps its promises, and that Redis does what it does.",
        discussion:
            "Every failure is printed with the command that replays it. docs/model.md says what each check proves.",
        subcommands: [RedisCommand.self, ExploreCommand.self, SimulateCommand.self]
    )
}
