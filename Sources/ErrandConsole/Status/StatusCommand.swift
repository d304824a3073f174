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
              errand status --queue images --json

            In JSON, running counts the jobs that workers have claimed, and executing those that have begun to run; the
            table shows these. oldest_ready_ms, oldest_unroutable_ms and last_beat_ms are ages: how long the oldest ready
            job has been waiting, without those whose operation no worker has, how long the oldest of these, and how long
            ago the worker's last heartbeat was.

            Of a cluster it also shows the servers and the queues that each serves. If one does not reply, the exit status is
            69, and "unreachable" in JSON names it.
            """
    )

    @OptionGroup var queues: QueueOptions
    @OptionGroup var options: ConsoleOptions

    func run() async throws {
        try await options.withBroker { broker in
            let (list, missing) = try await queues.known(to: broker)
            let overview = try await Overview(of: list.names, withServersOf: broker)
            if options.json { StandardOutput.write(overview.json.bytes) } else { overview.print() }
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
}
