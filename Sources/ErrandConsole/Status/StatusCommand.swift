import ArgumentParser
import Errand
import ErrandCommandLine
import ErrandOperator
import ErrandRedis

/// The command `errand status`.
struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Shows the queues and the workers.",
        discussion: """
            Examples:
              errand status
              errand status --sort dead
              errand status --queue images --json

            Columns without a value are left out. A worker is "lost" if its last heartbeat is more than 30 s ago.

            In JSON, running counts the jobs that workers have claimed, and executing those that have begun to run; the
            table shows these. oldest_ready_ms, oldest_unroutable_ms and last_beat_ms are ages: how long the oldest ready
            job has been waiting, without those whose operation no worker has, how long the oldest of these, and how long
            ago the worker's last heartbeat was.

            Of a cluster it also shows the servers and the queues that each serves. If one does not reply, the exit status is
            69, and "unreachable" in JSON names it.
            """
    )

    @OptionGroup var queues: QueueOptions

    @Option(help: "What the table of queues is sorted by, numbers from the largest.")
    var sort: QueueOrder?

    @Option(help: "What the table of workers is sorted by, numbers from the largest.")
    var sortWorkers = WorkerOrder.host

    @OptionGroup var list: ListOptions
    @OptionGroup var options: ConsoleOptions

    func run() async throws {
        try await options.withBroker { broker in
            let (list, missing) = try await queues.known(to: broker)
            let overview = try await Overview(of: list.names, withServersOf: broker)
            show(overview)
            overview.unreadable.warn()
            if let missing = missing.first { throw BrokerError(missingQueue: missing) }
            if let failure = overview.unreadable.failure("the others are shown") { throw failure }
            if let problem = list.problem { throw problem }
            if !overview.unreachable.isEmpty {
                throw CommandFailure(
                    "no reply from \(overview.unreachable.joined(separator: ", "))",
                    ExitStatus.unavailable
                )
            }
        }
    }

    private func show(_ overview: Overview) {
        if options.json { return StandardOutput.write(overview.json.bytes) }
        StatusTables(overview: overview, style: list.style, queueOrder: sort, workerOrder: sortWorkers).print()
    }
}
