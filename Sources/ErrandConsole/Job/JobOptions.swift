import ArgumentParser
import Errand
import ErrandCommandLine
import ErrandOperator
import ErrandRedis

/// Which jobs are meant, and where they are.
struct JobOptions: ParsableArguments {
    @Argument(help: ArgumentHelp("The ids of the jobs.", valueName: "id"))
    var ids: [String]

    @Option(
        help: ArgumentHelp(
            "The queue that the jobs are in; without it, all queues are looked through.",
            valueName: "queue"
        )
    )
    var queue: String?

    @OptionGroup var options: ConsoleOptions

    func validate() throws {
        for id in ids { try QueueRule.check(id: id) }
        if let queue { try QueueRule.check(queue) }
    }

    /// What the broker knows of the jobs, by id; an id may be in use in several queues.
    func find(in broker: RedisBroker) async throws(BrokerError) -> [String: [JobSummary]] {
        var found: [String: [JobSummary]] = [:]
        if let queue { try await broker.checkExists(queue) }
        let queues = if let queue { [queue] } else { try await broker.queues() }
        for queue in queues {
            for case let record? in try await broker.inspect(ids, on: queue) {
                found[record.id, default: []].append(JobSummary(record, in: queue))
            }
        }
        return found
    }
}
