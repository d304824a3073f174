import ArgumentParser
import Errand
import ErrandCommandLine
import ErrandOperator
import ErrandRedis

/// The options for jobs by id.
struct JobOptions: ParsableArguments {
    @Argument(help: ArgumentHelp("The ids of the jobs.", valueName: "id"))
    var ids: [String]

    @Option(
        help: ArgumentHelp(
            "The queue of the jobs; without it, all queues are searched.",
            valueName: "queue"
        )
    )
    var queue: String?

    @OptionGroup var options: ConsoleOptions

    func validate() throws {
        for id in ids { try QueueRule.check(id: id) }
        if let queue { try QueueRule.check(queue) }
    }

    /// Finds the jobs in the broker.
    func find(in broker: RedisBroker) async throws(BrokerError) -> FoundJobs {
        try await FoundJobs(ids, in: queue, of: broker)
    }
}

/// The jobs that a broker has for some ids.
struct FoundJobs: Sendable {
    /// The jobs by id; several queues may use the same id.
    private(set) var jobs: [String: [JobSummary]] = [:]
    /// The queues that could not be searched.
    let unreadable: [UnreadablePlace]

    /// Searches the named queue, or all queues.
    init(_ ids: [String], in queue: String?, of broker: RedisBroker) async throws(BrokerError) {
        if let queue { try await broker.checkExists(queue) }
        let queues = if let queue { [queue] } else { try await broker.queues() }
        let read = try await queues.readingEach { queue throws(BrokerError) in try await broker.inspect(ids, on: queue)
        }
        unreadable = read.unreadable
        for (queue, records) in read.values {
            for case let record? in records { jobs[record.id, default: []].append(JobSummary(record, in: queue)) }
        }
    }

    /// Returns the failure for jobs that were not found. If a queue could not be searched, they may exist there.
    func failure(ofMissing ids: [String]) -> CommandFailure {
        let names = ids.joined(separator: ", ")
        if unreadable.isEmpty {
            return CommandFailure("the broker knows nothing of \(names)", ExitStatus.unsuccessful)
        }
        let reason = "\(unreadable.queueNames) cannot be read, as listed above"
        return CommandFailure("\(names) cannot be found: \(reason)", unreadable.status)
    }
}
