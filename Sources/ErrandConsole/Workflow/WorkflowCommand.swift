import ArgumentParser
import Errand
import ErrandCommandLine
import ErrandOperator
import ErrandRedis

/// The command `errand workflow`: graphs of jobs.
struct WorkflowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "workflow",
        abstract: "Shows and manages workflows: graphs of jobs.",
        discussion: """
            errand-producer push --workflow pushes one.

            Examples:
              errand workflow list
              errand workflow show net:4fJ0aQ9bX2cD7eHk
              errand workflow retry net:4fJ0aQ9bX2cD7eHk
            """,
        subcommands: [
            WorkflowListCommand.self, WorkflowShowCommand.self, WorkflowCancelCommand.self, WorkflowRetryCommand.self,
            WorkflowDeleteCommand.self,
        ]
    )
}

/// The argument of commands on one workflow.
struct WorkflowArgument: ParsableArguments {
    @Argument(help: ArgumentHelp("The workflow, such as net:4fJ0aQ9bX2cD7eHk.", valueName: "id"))
    var id: WorkflowID

    @OptionGroup var options: ConsoleOptions

    func notFound(on broker: RedisBroker) async throws(BrokerError) -> CommandFailure {
        let hint =
            try await broker.hasQueue(id.queue)
            ? "`errand workflow list \(id.queue)` lists those of its queue"
            : "there is no queue \(id.queue); `errand workflow list` lists those of all queues"
        return CommandFailure("the broker has no workflow \(id) (any more); \(hint)", ExitStatus.unsuccessful)
    }
}

extension WorkflowState {
    /// The colour of the state on a terminal.
    var colour: Colour? {
        switch self {
        case .running: nil
        case .finished: .green
        case .failed: .red
        case .cancelled: .yellow
        }
    }
}
