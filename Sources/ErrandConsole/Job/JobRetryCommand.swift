import ArgumentParser
import Errand
import ErrandCommandLine
import ErrandOperator
import ErrandRedis

/// The command `errand job retry`.
struct JobRetryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry",
        abstract: "Retries dead jobs with fresh attempts, if their names are free.",
        discussion: """
            Scheduled and retrying jobs become ready at once. Jobs that have finished or were cancelled cannot be retried.

            Example:
              errand job retry 01KA9ZK9M00001H9J4V5Q6ZBHW
            """
    )

    @OptionGroup var jobs: JobOptions

    func run() async throws {
        let action = JobAction(
            jobs: jobs,
            act: { broker, ids, queue throws(BrokerError) in try await broker.retry(ids, on: queue).map(\.jobOutcome) },
            endedOutcome: { job in
                let words = job.record.state == .finished ? "has finished" : "was \(job.record.state.rawValue)"
                return JobOutcome(
                    word: "ended",
                    remark: "it \(words), so it cannot run again; push a new job",
                    isDone: false
                )
            }
        )
        try await action.run()
    }
}

extension RetryOutcome {
    fileprivate var jobOutcome: JobOutcome {
        switch self {
        case .retried, .hurried: JobOutcome(word: word, isDone: true)
        case .notDead: JobOutcome(word: word, remark: "it is neither dead nor waiting for its time", isDone: false)
        case .nameTaken(let holder):
            JobOutcome(word: word, remark: "job \(holder) holds the name", isDone: false)
        case .notFound: JobOutcome(word: word, isDone: false)
        }
    }
}
