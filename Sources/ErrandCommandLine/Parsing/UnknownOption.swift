import ArgumentParser

/// An option on a command line that its command does not have.
///
/// The argument parser validates a command before it looks for such options, so the message is about the value that the
/// misspelt option was to set, unless this finds it.
struct UnknownOption {
    /// The option as it was written, without a value: `--atonce`.
    let name: String
    /// The option that was probably meant.
    let similar: String?

    /// Finds the first such option; `nil` if the command knows all of them.
    ///
    /// - Parameters:
    ///   - arguments: The arguments of the process, without its name.
    ///   - root: The command of the executable.
    init?(in arguments: [String], of root: any ParsableCommand.Type) {
        let known = Self.options(of: Self.command(in: arguments, of: root), root)
        let options = arguments.prefix { $0 != "--" }.filter { $0.prefixMatch(of: /--[a-z]/) != nil }
        let names = options.map { String($0.prefix { $0 != "=" }) }
        guard let name = names.first(where: { !known.contains($0) }) else { return nil }
        self.name = name
        similar = CommandSuggestion.similar(to: name, in: known.sorted())
    }

    /// The message, like the argument parser's own.
    var message: String {
        "Error: Unknown option '\(name)'" + (similar.map { ". Did you mean '\($0)'?" } ?? "")
    }

    /// Returns the command that the arguments name, or its default one.
    private static func command(
        in arguments: [String],
        of root: any ParsableCommand.Type
    ) -> any ParsableCommand.Type {
        var command = root
        for argument in arguments {
            let next = command.configuration.subcommands.first { $0._commandName == argument }
            guard let next else { break }
            command = next
        }
        return command.configuration.defaultSubcommand ?? command
    }

    /// Returns the options in the help of a command. Its examples may name some of other commands, which are taken for
    /// known ones.
    private static func options(of command: any ParsableCommand.Type, _ root: any ParsableCommand.Type) -> Set<String> {
        let help = root.helpMessage(for: command, includeHidden: true, columns: 10_000)
        return Set(help.matches(of: /--[a-z][a-z0-9-]*/).map { String($0.output) })
    }
}
