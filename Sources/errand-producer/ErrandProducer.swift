import ArgumentParser
import ErrandCommandLine

/// The entry point of the executable.
@main
enum Program {
    static func main() async {
        ProcessStart.prepare()
        await ErrandProducer.start(ArgumentSpelling.normalized(Array(CommandLine.arguments.dropFirst())))
    }
}

/// The command that pushes operation descriptions to a broker.
struct ErrandProducer: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "errand-producer",
        abstract: "Pushes jobs to a broker.",
        discussion: """
            Example:
              errand-producer push checksum '{"path":"a.jpg"}' --unique drop --wait=30s
            """,
        version: ErrandVersion.current,
        subcommands: [PushCommand.self]
    )
}
