import ArgumentParser
import Errand
import ErrandCommandLine
import ErrandOperator

/// The command `errand queue limit`.
struct QueueLimitCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "limit",
        abstract: "Limits the number of jobs in a queue; pushes beyond the limit are rejected.",
        discussion: """
            0 restores the default, 10,000,000 jobs.

            Example:
              errand queue limit images 100000
            """
    )

    @OptionGroup var target: QueueArgument

    @Argument(help: ArgumentHelp("The largest number of jobs; 0 for the default.", valueName: "n"))
    var count: Int

    func validate() throws {
        guard (0...1_000_000_000).contains(count) else { throw ValidationError("the limit must be 0 to 1000000000") }
    }

    func run() async throws {
        let json: JSONOutput = ["queue": .text(target.queue), "limit": count == 0 ? .null : .count(count)]
        let words =
            count == 0
            ? "\(target.queue) has the default limit again" : "\(target.queue) takes at most \(count.counted("job"))"
        try await target.configure(QueueSettings(maximumLength: count), json: json, words: words)
    }
}
