import ArgumentParser
import Errand
import ErrandCommandLine
import ErrandRedis

/// The command `errand job cancel`.
struct JobCancelCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel",
        abstract: "Cancels jobs: waiting jobs end at once, and running jobs are told to stop.",
        discussion: """
            Example:
              errand job cancel 01KA9ZK9M00001H9J4V5Q6ZBHW
            """
    )

    @OptionGroup var jobs: JobOptions

    func run() async throws {
        try await JobAction(jobs: jobs) { broker, ids, queue throws(BrokerError) in
            try await broker.cancel(ids, on: queue).map { $0.jobOutcome(doneIf: [.cancelled, .stopping]) }
        }.run()
    }
}

/// The command `errand job delete`.
struct JobDeleteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Deletes waiting, dead and ended jobs. A running job must be cancelled first.",
        discussion: """
            Example:
              errand job delete 01KA9ZK9M00001H9J4V5Q6ZBHW
            """
    )

    @OptionGroup var jobs: JobOptions

    func run() async throws {
        try await JobAction(jobs: jobs) { broker, ids, queue throws(BrokerError) in
            try await broker.delete(ids, on: queue).map { $0.jobOutcome(doneIf: [.deleted]) }
        }.run()
    }
}

extension EndingOutcome {
    fileprivate func jobOutcome(doneIf done: [EndingOutcome]) -> JobOutcome {
        let remark: String? =
            switch self {
            case .stopping: "it is running and was told to stop"
            case .running: "cancel it first"
            case .ended: "there is nothing left to end"
            case .dead: "retry or delete it"
            case .cancelled, .deleted, .notFound: nil
            }
        return JobOutcome(word: rawValue, remark: remark, isDone: done.contains(self))
    }
}
