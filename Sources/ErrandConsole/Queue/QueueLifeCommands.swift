import ArgumentParser
import Errand
import ErrandCommandLine
import ErrandOperator
import ErrandRedis

/// The command `errand queue create`.
struct QueueCreateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Creates an empty queue, so that it can be configured or paused before its first job.",
        discussion: """
            A queue that already exists is left unchanged.

            Example:
              errand queue create images
            """
    )

    @OptionGroup var target: QueueArgument

    func run() async throws {
        try await target.options.withBroker { broker in
            let isNew = try await broker.createQueue(target.queue)
            let json: JSONOutput = ["queue": .text(target.queue), "created": .truth(isNew)]
            let words = isNew ? "\(target.queue) is created" : "\(target.queue) already exists"
            StandardOutput.write(target.options.json ? json.bytes : Array(words.utf8))
        }
    }
}

/// The command `errand queue delete`.
struct QueueDeleteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Deletes a queue with its settings, counters, results and history.",
        discussion: """
            A queue with jobs (also dead ones), live workers or schedules is only deleted with --force: its jobs are then \
            lost, and its running jobs are stopped without a record. A push, or a worker that still serves the queue, \
            creates it again.

            Examples:
              errand queue delete images
              errand queue delete images --force --json
            """
    )

    @OptionGroup var target: QueueArgument

    @Flag(help: "Delete the queue even if it has jobs, live workers or schedules.")
    var force = false

    func run() async throws {
        try await target.options.withBroker { broker in
            switch try await broker.deleteQueue(target.queue, force: force) {
            case .deleted(let jobs):
                let json: JSONOutput = ["queue": .text(target.queue), "deleted": .truth(true), "jobs": .count(jobs)]
                let words = "\(target.queue) is deleted" + (jobs > 0 ? " with \(jobs.counted("job"))" : "")
                StandardOutput.write(target.options.json ? json.bytes : Array(words.utf8))
            case .inUse(let jobs, let workers, let schedules):
                let parts = [(jobs, "job"), (workers, "live worker"), (schedules, "schedule")]
                let use = parts.filter { $0.0 > 0 }.map { $0.0.counted($0.1) }.joined(separator: ", ")
                throw CommandFailure(
                    "queue \"\(target.queue)\" has \(use) and was not deleted; end these first, or delete it all with --force",
                    ExitStatus.unsuccessful
                )
            case .notFound: throw BrokerError(missingQueue: target.queue)
            }
        }
    }
}
