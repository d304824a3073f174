import ArgumentParser
import Errand
import ErrandCommandLine
import ErrandOperator
import ErrandRedis

/// What became of one job that something was to be done with.
struct JobVerdict: Sendable {
    /// One word, for programs.
    let word: String
    /// A remark for people.
    var remark: String?
    /// Whether it was done.
    let isDone: Bool
}

/// Does the same with several jobs, wherever they are, and tells what became of each.
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
    /// Each element once, in the order of the first ones.
    fileprivate var unique: [String] {
        var seen: Set<String> = []
        return filter { seen.insert($0).inserted }
    }
}
