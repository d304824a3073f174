import ArgumentParser
import Errand
import ErrandCommandLine
import ErrandOperator
import ErrandRedis

/// The outcome of an action on one job.
struct JobOutcome: Sendable {
    /// The outcome in one word, for programs.
    let word: String
    /// A remark for people.
    var remark: String?
    /// Whether the action succeeded.
    let isDone: Bool
}

/// An action on several jobs in any queue, with a report of each outcome.
struct JobAction {
    let jobs: JobOptions
    let act: (_ broker: RedisBroker, _ ids: [String], _ queue: String) async throws(BrokerError) -> [JobOutcome]
    /// The outcome for a job that has ended, of which only the history is left; `nil` to let the broker decide.
    var endedOutcome: ((_ job: JobSummary) -> JobOutcome)?

    func run() async throws {
        try await jobs.options.withBroker { broker in
            let found = try await jobs.find(in: broker)
            var outcomes = JobActionOutcomes(of: found, ended: endedOutcome)
            for (queue, ids) in outcomes.wanted {
                do throws(BrokerError) { outcomes.add(try await act(broker, ids, queue), to: ids) } catch {
                    outcomes.fail(ids, of: queue, error)
                    if !error.isOfOnePlace { break }
                }
            }
            outcomes.tell(asJSON: jobs.options.json)
            if let failure = outcomes.failure { throw failure }
        }
    }
}
