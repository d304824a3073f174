import ArgumentParser
import Errand
import ErrandCommandLine
import ErrandRedis

/// Which queues are meant.
struct QueueOptions: ParsableArguments {
    @Option(
        name: .customLong("queue"),
        help: ArgumentHelp("Only this queue; may be given several times.", valueName: "queue")
    )
    var named: [String] = []

    func validate() throws {
        for queue in named { try QueueRule.check(queue) }
    }

    /// The named queues, or all that the broker has heard of.
    func queues(of broker: RedisBroker) async throws(BrokerError) -> [String] {
        named.isEmpty ? try await broker.queues() : named
    }
}

/// What queues and ids on the command line must be like.
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
