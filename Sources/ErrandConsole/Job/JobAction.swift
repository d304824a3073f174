import ArgumentParser
import Errand
import ErrandCommandLine
import ErrandOperator
import ErrandRedis

/// The outcome of an action on one job.
struct JobVerdict: Sendable {
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
    let act: (_ broker: RedisBroker, _ ids: [String], _ queue: String) async throws(BrokerError) -> [JobVerdict]

    func run() async throws {
        try await jobs.options.withBroker { broker in
            let found = try await jobs.find(in: broker)
            var outcome = JobActionOutcome(of: jobs.ids.unique, found)
            for (queue, ids) in outcome.wanted {
                do throws(BrokerError) { outcome.add(try await act(broker, ids, queue), to: ids) } catch {
                    outcome.fail(ids, of: queue, error)
                    if !error.isOfOnePlace { break }
                }
            }
            outcome.tell(asJSON: jobs.options.json)
            if let failure = outcome.failure { throw failure }
        }
    }
}

extension [String] {
    /// The elements without repetitions, in the order of their first occurrence.
    fileprivate var unique: [String] {
        var seen: Set<String> = []
        return filter { seen.insert($0).inserted }
    }
}
