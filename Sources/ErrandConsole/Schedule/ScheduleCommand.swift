import ArgumentParser
import Errand
import ErrandCommandLine
import ErrandOperator
import ErrandRedis

/// The command `errand schedule`: recurring jobs.
struct ScheduleCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schedule",
        abstract: "Shows and manages schedules: recurring jobs.",
        discussion: """
            A schedule ticks while any worker serves its queue.

            Examples:
              errand schedule list
              errand schedule add nightly report '{"kind":"sales"}' --cron "30 2 * * *" \\
                --time-zone Europe/Berlin
              errand schedule next --cron "30 2 * * *" --time-zone Europe/Berlin --count 10
            """,
        subcommands: [
            ScheduleListCommand.self, ScheduleShowCommand.self, ScheduleAddCommand.self, ScheduleDeleteCommand.self,
            SchedulePauseCommand.self, ScheduleResumeCommand.self, ScheduleRunCommand.self, ScheduleNextCommand.self,
        ]
    )
}

/// The queue of a schedule.
struct ScheduleQueueOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The schedule's queue.", valueName: "queue"), completion: QueueCompletion.kind)
    var queue = "default"

    @OptionGroup var options: ConsoleOptions

    func validate() throws { try QueueRule.check(queue) }
}

/// The argument of commands on one schedule.
struct ScheduleArgument: ParsableArguments {
    @Argument(help: ArgumentHelp("The schedule.", valueName: "name"))
    var name: String

    @OptionGroup var place: ScheduleQueueOptions

    var options: ConsoleOptions { place.options }
    var queue: String { place.queue }

    func validate() throws { try ScheduleRule.check(name) }

    /// Performs an action on the schedule and reports it; the exit status is 1 if it does not exist.
    func act(
        _ word: String,
        _ action: (RedisBroker) async throws(BrokerError) -> Bool
    ) async throws {
        try await options.withBroker { broker in
            try await broker.checkExists(queue)
            guard try await action(broker) else { throw notFound }
            let json: JSONOutput = ["name": .text(name), "queue": .text(queue), "verdict": .text(word)]
            StandardOutput.write(options.json ? json.bytes : Array("\(name) of \(queue) is \(word)".utf8))
        }
    }

    /// Reads the stored schedule.
    func record(from broker: RedisBroker) async throws -> ScheduleRecord {
        try await broker.checkExists(queue)
        guard let record = try await broker.schedule(name, on: queue) else { throw notFound }
        return record
    }

    var notFound: CommandFailure {
        CommandFailure(
            "queue \(queue) has no schedule \"\(name)\"; `errand schedule list` lists the schedules",
            ExitStatus.unsuccessful
        )
    }
}

/// The rule for names of schedules on the command line.
enum ScheduleRule {
    static func check(_ name: String) throws {
        // The rule is the same as for names of queues.
        guard QueueName.isValid(name) else {
            throw ValidationError("\"\(name.onOneLine())\" is not a schedule's name: 1 to 128 of A-Z a-z 0-9 _ . -")
        }
    }
}
