package import ArgumentParser
import Foundation

extension AsyncParsableCommand {
    /// Parses the arguments and runs the command, as `main()` does, but suggests a command for a mistyped one, names an
    /// unknown option before it says what is missing, and never shows the password of a URL in a wrong position, nor control
    /// characters of a wrong argument.
    package static func start(_ arguments: [String]? = nil) async {
        do {
            var command = try await asyncParseAsRoot(arguments)
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
        } catch {
            let (whole, status) = (fullMessage(for: error), exitCode(for: error))
            let suggestion = suggestion(for: arguments, status)
            let message = suggestion == nil ? naming(unknownOption(in: arguments, status), in: whole) : whole
            let isUnsafe = message.withoutURLPasswords.terminalSafe != message
            guard !status.isSuccess, suggestion != nil || message != whole || isUnsafe else {
                exit(withError: error)
            }
            report(message, suggestion)
            Foundation.exit(status.rawValue)
        }
    }

    private static func suggestion(for arguments: [String]?, _ status: ExitCode) -> CommandSuggestion? {
        guard status == .validationFailure else { return nil }
        return CommandSuggestion(for: arguments ?? Array(CommandLine.arguments.dropFirst()), of: self)
    }

    private static func unknownOption(in arguments: [String]?, _ status: ExitCode) -> UnknownOption? {
        guard status == .validationFailure else { return nil }
        return UnknownOption(in: arguments ?? Array(CommandLine.arguments.dropFirst()), of: self)
    }

    /// Returns a message with an unknown option in place of its first lines, those before the usage.
    private static func naming(_ option: UnknownOption?, in message: String) -> String {
        guard let option, !message.hasPrefix("Error: Unknown option") else { return message }
        let usage = message.split(separator: "\n", omittingEmptySubsequences: false).drop { !$0.hasPrefix("Usage:") }
        return ([Substring(option.message)] + usage).joined(separator: "\n")
    }

    /// Writes the message, with the suggestion behind its first line.
    private static func report(_ message: String, _ suggestion: CommandSuggestion?) {
        guard let suggestion else { return StandardError.write(message) }
        var lines = message.split(separator: "\n", omittingEmptySubsequences: false)[...]
        let first = lines.popFirst() ?? ""
        StandardError.write("\(first). Did you mean '\(suggestion.command)'?")
        for line in lines { StandardError.write(String(line)) }
    }
}
