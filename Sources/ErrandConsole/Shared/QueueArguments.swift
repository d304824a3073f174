import ArgumentParser
import Errand
import ErrandCommandLine
import ErrandOperator
import ErrandRedis

/// The option of commands on several queues.
struct QueueOptions: ParsableArguments {
    @Option(
        name: .customLong("queue"),
        help: ArgumentHelp("Only this queue; may be given several times.", valueName: "queue"),
        completion: QueueCompletion.kind
    )
    var named: [String] = []

    func validate() throws {
        for queue in named { try QueueRule.check(queue) }
    }

    /// Returns the named queues, or all that the broker has.
    ///
    /// - Throws: `BrokerError` with the code `queueNotFound` if a named queue does not exist.
    func queues(of broker: RedisBroker) async throws(BrokerError) -> [String] {
        if named.isEmpty { return try await broker.allQueues() }
        let (list, missing) = try await known(to: broker)
        if let missing = missing.first { throw BrokerError(missingQueue: missing) }
        return list.names
    }

    /// Returns the same without the queues of a cluster's servers that do not reply.
    func reachableQueues(of broker: RedisBroker) async throws(BrokerError) -> ReachableQueues {
        try await ReachableQueues(of: queues(of: broker), on: broker)
    }

    /// Returns the named queues that exist, or all that the broker has, and the named ones that do not exist.
    func known(to broker: RedisBroker) async throws(BrokerError) -> (list: QueueList, missing: [String]) {
        if named.isEmpty { return (try await QueueList(of: broker), []) }
        var (known, missing): ([String], [String]) = ([], [])
        for queue in named {
            if try await broker.hasQueue(queue) { known.append(queue) } else { missing.append(queue) }
        }
        return (QueueList(known), missing)
    }
}

extension RedisBroker {
    /// Returns all queues.
    ///
    /// - Throws: `BrokerError` that advises `--queue` if only the server of a cluster that lists the queues is lost.
    func allQueues() async throws(BrokerError) -> [String] {
        let list = try await QueueList(of: self)
        guard let problem = list.problem else { return list.names }
        throw BrokerError(problem.code, "\(problem.message); with --queue, the list is not needed")
    }

    /// Rejects a queue that does not exist, because a misspelled one would look like a queue without jobs.
    func checkExists(_ queue: String) async throws(BrokerError) {
        guard try await hasQueue(queue) else { throw BrokerError(missingQueue: queue) }
    }
}

/// The rules for names of queues and ids on the command line.
enum QueueRule {
    static func check(_ queue: String) throws {
        guard QueueName.isValid(queue) else {
            throw ValidationError("\"\(queue.onOneLine())\" is not a queue's name: 1 to 128 of A-Z a-z 0-9 _ . -")
        }
    }

    static func check(id: String) throws {
        guard QueueName.isValid(jobID: id) else {
            throw ValidationError("\"\(id.onOneLine())\" is not a job's id: 1 to 64 of A-Z a-z 0-9 _ -")
        }
    }
}
