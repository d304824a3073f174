import ArgumentParser

/// Checks of the transitions against a model of them.
@main
struct ErrandModelCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "errand-model",
        abstract: "Checks that the brokers do what the model of them says, and that the model keeps its promises.",
        discussion:
            "Every failure is printed with the command that replays it. docs/model.md says what each check proves.",
        subcommands: [MemoryCommand.self, RedisCommand.self, ExploreCommand.self, SimulateCommand.self]
    )
}
