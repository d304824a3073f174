import ArgumentParser
import Errand
import ErrandCommandLine
import ErrandOperator
import ErrandRedis
import ErrandText
import Foundation

/// The command `errand job edit`.
struct JobEditCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit",
        abstract: "Pushes a dead job again with another description.",
        discussion: """
            The description opens in $VISUAL or $EDITOR. When the editor ends, the description is checked and pushed as a new \
            job, and the dead job is removed after the new one was accepted. --description takes it from a file instead. If \
            the new job is rejected, the edited file stays, and the error names it.

            If the reply is lost (exit status 75), run the command again: it pushes no second job.

            Examples:
              errand job edit 01KA9ZK9M00001H9J4V5Q6ZBHW --queue images
              errand job edit 01KA9ZK9M00001H9J4V5Q6ZBHW --description fixed.json --json
            """
    )

    @Argument(help: ArgumentHelp("The id of the job, or a unique part of it such as 01KA9ZK9M00001…", valueName: "id"))
    var id: String

    @Option(
        help: ArgumentHelp(
            "The queue of the job; without it, all queues are searched.",
            valueName: "queue"
        ),
        completion: QueueCompletion.kind
    )
    var queue: String?

    @Option(help: ArgumentHelp("A file with the description; - is standard input.", valueName: "file"))
    var description: String?

    @OptionGroup var options: ConsoleOptions

    func validate() throws {
        try QueueRule.check(id: PartialID(id).text)
        if let queue { try QueueRule.check(queue) }
    }

    func run() async throws {
        try await options.withBroker { broker in
            let (queue, id) = try await place(broker)
            let edit = JobEdit(broker, id, on: queue)
            guard let old = try await edit.description() else {
                throw try await Self.refusal(of: id, in: queue, broker)
            }
            if let workflow = try await edit.heldUpWorkflow() { throw Self.holdsUp(workflow, id) }
            if let description {
                try tell(await edit.replace(with: try Self.parsed(try read(description))), of: id)
            } else {
                let text = Array((IndentedJSON.lines(of: old.encoded()) + "\n").utf8)
                try await TextEditor.edit(text, atMost: Self.mostBytes) { edited in
                    try tell(await edit.replace(with: try Self.parsed(edited)), of: id)
                }
            }
        }
    }

    /// Returns why a job without a description that can be edited is refused.
    private static func refusal(
        of id: String,
        in queue: String,
        _ broker: RedisBroker
    ) async throws(BrokerError) -> CommandFailure {
        let record = try await broker.inspect([id], on: queue).first ?? nil
        let reason = record?.state == .dead ? "cannot be read" : "is not dead; only dead jobs are edited"
        return CommandFailure("\(id) \(reason)", ExitStatus.unsuccessful)
    }

    /// Returns the queue and the whole id of the job.
    private func place(_ broker: RedisBroker) async throws -> (queue: String, id: String) {
        let found = try await FoundJobs([id], in: queue, of: broker)
        let id = found.ids.first ?? PartialID(id).text
        if let queue { return (queue, id) }
        found.unreadable.warn()
        let places = (found.jobs[id] ?? []).map(\.queue)
        if places.count > 1 {
            throw CommandFailure(
                "\(id) is in the queues \(places.joined(separator: ", ")): choose one with --queue",
                ExitStatus.unsuccessful
            )
        }
        guard let place = places.first else { throw found.failure(ofMissing: [id]) }
        return (place, id)
    }

    /// Parses a description. Errors name the line and the column, as an editor does, instead of the byte offset.
    private static func parsed(_ text: [UInt8]) throws(CommandFailure) -> OperationDescription {
        do { return try OperationDescription(json: text) } catch {
            throw CommandFailure("\(error.explanation(in: text)); nothing was changed", ExitStatus.badInput)
        }
    }

    /// The largest size of the file. People add line breaks and indentation.
    private static let mostBytes = 4 * DescriptionLimits.descriptionBytes

    private func read(_ path: String) throws(CommandFailure) -> [UInt8] {
        do throws(TextFile.Problem) {
            if path == "-" { return try TextFile.read(STDIN_FILENO, atMost: Self.mostBytes) }
            return try TextFile.read(path, atMost: Self.mostBytes)
        } catch {
            throw CommandFailure("\(path == "-" ? "standard input" : path) \(error)", ExitStatus.badInput)
        }
    }

    private func tell(_ outcome: JobEdit.Outcome, of id: String) throws {
        switch outcome {
        case .pushed(let receipt, let removed):
            write(receipt)
            if !removed { StandardError.write("note: the dead job \(id) was gone by then") }
        case .refused(let receipt): throw CommandFailure(receipt.refusalOfEdit, ExitStatus.unsuccessful)
        case .unknown(let receipt):
            write(receipt)
            throw CommandFailure(
                "the reply was lost: the new job may or may not have been accepted, and the dead one stays; "
                    + "run the command again within a minute, which pushes no second job, or look for \(receipt.id)",
                ExitStatus.unknown
            )
        case .pushedAndMaybeRemoved(let receipt, let error):
            write(receipt)
            throw CommandFailure(
                "the new job is ready; whether the dead one was removed is unknown, so look for \(id): \(error.message)",
                ExitStatus.unknown
            )
        case .holdsUp(let workflow): throw Self.holdsUp(workflow, id)
        case .notDead: throw CommandFailure("\(id) is not dead any more", ExitStatus.unsuccessful)
        case .notFound: throw CommandFailure("\(id) is gone", ExitStatus.unsuccessful)
        }
    }

    private static func holdsUp(_ workflow: WorkflowID, _ id: String) -> CommandFailure {
        CommandFailure(
            "the workflow \(workflow) waits for \(id), and a new job would have no place in it: retry this one, or delete it to "
                + "skip what comes after it",
            ExitStatus.unsuccessful
        )
    }

    private func write(_ receipt: Receipt) {
        StandardOutput.write(
            options.json ? receipt.json.bytes : Array("\(receipt.id) \(receipt.outcome.rawValue)".utf8)
        )
    }
}
