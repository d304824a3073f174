import ArgumentParser
import Errand
import ErrandCommandLine
import ErrandOperator
import ErrandRedis

/// The options for jobs by id.
struct JobOptions: ParsableArguments {
    @Argument(
        help: ArgumentHelp("The ids of the jobs, or unique parts of them such as 01KA9ZK9M00001…", valueName: "id")
    )
    var ids: [String]

    @Option(
        help: ArgumentHelp(
            "The queue of the jobs; without it, all queues are searched.",
            valueName: "queue"
        ),
        completion: QueueCompletion.kind
    )
    var queue: String?

    @OptionGroup var options: ConsoleOptions

    func validate() throws {
        for id in ids { try QueueRule.check(id: PartialID(id).text) }
        if let queue { try QueueRule.check(queue) }
    }

    /// Finds the jobs in the broker.
    func find(in broker: RedisBroker) async throws -> FoundJobs {
        try await FoundJobs(ids, in: queue, of: broker)
    }
}

/// The jobs that a broker has for some ids.
struct FoundJobs: Sendable {
    /// The whole ids, in the order of the command line and without repetitions.
    private(set) var ids: [String] = []
    /// The jobs by whole id; several queues may use the same id.
    private(set) var jobs: [String: [JobSummary]] = [:]
    /// The queues that could not be searched.
    private(set) var unreadable: [UnreadablePlace] = []

    /// Searches the named queue, or all queues.
    ///
    /// - Parameter written: Whole ids, or unique parts of them.
    init(_ written: [String], in queue: String?, of broker: RedisBroker) async throws {
        if let queue { try await broker.checkExists(queue) }
        let queues = if let queue { [queue] } else { try await broker.allQueues() }
        let parts = written.map(PartialID.init)
        try await add(parts.filter { !$0.hasEllipsis }.map(\.text), in: queues, of: broker)
        let whole = try await whole(parts.filter { jobs[$0.text] == nil }, in: queues, of: broker)
        try await add(Array(whole.values), in: queues, of: broker)
        ids = parts.map { whole[$0.text] ?? $0.text }.unique
    }

    /// Returns the whole ids for parts of ids. A part is only known to be unique if all queues can be read.
    private func whole(
        _ parts: [PartialID],
        in queues: [String],
        of broker: RedisBroker
    ) async throws -> [String: String] {
        guard !parts.isEmpty, unreadable.isEmpty else { return [:] }
        do {
            return try await PartialIDs(broker: broker, queues: queues).wholeIDs(of: parts)
        } catch let error as BrokerError where error.isOfOnePlace {
            return [:]
        }
    }

    private mutating func add(_ ids: [String], in queues: [String], of broker: RedisBroker) async throws(BrokerError) {
        guard !ids.isEmpty else { return }
        let read = try await queues.readingEach { queue throws(BrokerError) in
            try await broker.inspect(ids, on: queue)
        }
        unreadable += read.unreadable
        for (queue, records) in read.values {
            for case let record? in records { jobs[record.id, default: []].append(JobSummary(record, in: queue)) }
        }
    }

    /// Returns the failure for jobs that were not found. If a queue could not be searched, they may exist there.
    func failure(ofMissing ids: [String]) -> CommandFailure {
        let names = ids.joined(separator: ", ")
        if unreadable.isEmpty {
            let what = ids.count == 1 ? "job" : "jobs"
            return CommandFailure(
                "there is no \(what) \(names); ended jobs are kept only for a time",
                ExitStatus.unsuccessful
            )
        }
        let reason = "\(unreadable.queueNames) cannot be read, as listed above"
        return CommandFailure("\(names) cannot be found: \(reason)", unreadable.status)
    }
}

extension [String] {
    /// The elements without repetitions, in the order of their first occurrence.
    fileprivate var unique: [String] {
        var seen: Set<String> = []
        return filter { seen.insert($0).inserted }
    }
}
