import ArgumentParser
import Errand
import ErrandCommandLine
import ErrandOperator
import ErrandRedis

/// The command `errand workflow cancel`.
struct WorkflowCancelCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel",
        abstract: "Cancels whatever has not ended of a workflow; running jobs are asked to stop.",
        discussion: """
            Example:
              errand workflow cancel net:4fJ0aQ9bX2cD7eHk
            """
    )

    @OptionGroup var target: WorkflowArgument

    func run() async throws {
        try await target.act("cancelled", nothing: "has ended already") { broker, id throws(BrokerError) in
            try await broker.cancel(id)
        }
    }
}

/// The command `errand workflow retry`.
struct WorkflowRetryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry",
        abstract: "Retries the dead jobs that hold up a workflow, which goes on where it stopped.",
        discussion: """
            Example:
              errand workflow retry net:4fJ0aQ9bX2cD7eHk
            """
    )

    @OptionGroup var target: WorkflowArgument

    func run() async throws {
        try await target.act("retried", nothing: "has no dead job that holds it up") { broker, id throws(BrokerError) in
            try await broker.retry(id)
        }
    }
}

/// The command `errand workflow delete`.
struct WorkflowDeleteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Deletes a workflow with its jobs, unless some of them run.",
        discussion: """
            Example:
              errand workflow delete net:4fJ0aQ9bX2cD7eHk --yes
            """
    )

    @OptionGroup var target: WorkflowArgument

    @Flag(help: "Do not ask for confirmation.")
    var yes = false

    func run() async throws {
        guard yes || Confirmation.ask("This deletes workflow \(target.id) with all of its jobs.") else {
            throw CommandFailure("nothing was deleted; --yes skips the question", ExitStatus.unsuccessful)
        }
        try await target.act("deleted", nothing: "has nothing to delete") { broker, id throws(BrokerError) in
            try await broker.delete(id)
        }
    }
}

extension WorkflowArgument {
    /// Changes the workflow and reports it; the exit status is 1 if nothing was changed.
    ///
    /// - Parameters:
    ///   - word: What was done to its jobs.
    ///   - nothing: Why there was nothing to do.
    ///   - action: The change.
    fileprivate func act(
        _ word: String,
        nothing: String,
        _ action: (RedisBroker, WorkflowID) async throws(BrokerError) -> WorkflowChange
    ) async throws {
        try await options.withBroker { broker in
            switch try await action(broker, id) {
            case .changed(let jobs):
                let json: JSONOutput = [
                    "workflow": .text(id.description), "verdict": .text(word), "jobs": .count(jobs),
                ]
                let words = "workflow \(id): \(jobs.counted("job")) \(word)"
                StandardOutput.write(options.json ? json.bytes : Array(words.utf8))
            case .nothingToDo: throw CommandFailure("workflow \(id) \(nothing)", ExitStatus.unsuccessful)
            case .running(let jobs):
                throw CommandFailure(
                    "workflow \(id) is not deleted, because \(jobs.counted("job")) of it \(jobs == 1 ? "runs" : "run"); "
                        + "cancel it first: errand workflow cancel \(id)",
                    ExitStatus.unsuccessful
                )
            case .notFound: throw try await notFound(on: broker)
            }
        }
    }
}
