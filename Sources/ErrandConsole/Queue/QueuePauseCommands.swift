import ArgumentParser
import Errand
import ErrandCommandLine
import ErrandOperator

/// The command `errand queue pause`.
struct QueuePauseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause",
        abstract: "Pauses a queue: no job starts until it is resumed; running jobs continue, and pushes are accepted.",
        discussion: """
            Example:
              errand queue pause images
            """
    )

    @OptionGroup var target: QueueArgument

    func run() async throws {
        let json: JSONOutput = ["queue": .text(target.queue), "paused": .truth(true)]
        try await target.configure(QueueSettings(isPaused: true), json: json, words: "\(target.queue) is paused")
    }
}

/// The command `errand queue resume`.
struct QueueResumeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume",
        abstract: "Resumes a paused queue.",
        discussion: """
            Example:
              errand queue resume images
            """
    )

    @OptionGroup var target: QueueArgument

    func run() async throws {
        let json: JSONOutput = ["queue": .text(target.queue), "paused": .truth(false)]
        try await target.configure(QueueSettings(isPaused: false), json: json, words: "\(target.queue) is resumed")
    }
}
