import ArgumentParser

/// A suggestion for a mistyped command.
struct CommandSuggestion {
    /// The whole command to suggest: `errand queue pause`.
    let command: String

    /// Finds the command that was probably meant; `nil` if all commands are spelt correctly, or none is similar.
    ///
    /// - Parameters:
    ///   - arguments: The arguments of the process, without its name.
    ///   - root: The command of the executable.
    init?(for arguments: [String], of root: any ParsableCommand.Type) {
        var (command, words) = (root, [Self.name(of: root)])
        for argument in arguments {
            let choices = command.configuration.subcommands.filter { $0.configuration.shouldDisplay }
            if let next = command.configuration.subcommands.first(where: { Self.name(of: $0) == argument }) {
                command = next
                words.append(argument)
                continue
            }
            guard !argument.hasPrefix("-"), let name = Self.similar(to: argument, in: choices.map(Self.name)) else {
                return nil
            }
            self.command = (words + [name]).joined(separator: " ")
            return
        }
        return nil
    }

    private static func name(of command: any ParsableCommand.Type) -> String { command._commandName }

    /// Returns the name with the fewest differences, if these are few.
    static func similar(to word: String, in names: [String]) -> String? {
        let most = min(3, max(1, word.count / 2))
        let near = names.map { (name: $0, differences: differences(word, $0)) }.filter { $0.differences <= most }
        return near.min { $0.differences < $1.differences }?.name
    }

    /// Returns the number of characters to remove and to insert; none for a word of unreasonable length is similar.
    private static func differences(_ word: String, _ name: String) -> Int {
        word.count > 40 ? .max : word.difference(from: name).count
    }
}
