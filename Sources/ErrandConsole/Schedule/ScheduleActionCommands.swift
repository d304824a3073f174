import ArgumentParser
import Errand
import ErrandCommandLine
import ErrandOperator
import ErrandRedis

/// The command `errand schedule delete`.
struct ScheduleDeleteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Deletes a schedule; jobs that it has pushed stay.",
        discussion: """
            Workers that still have it in their code or catalogue only restore it with a higher revision.

            Example:
              errand schedule delete nightly --queue reports
            """
    )

    @OptionGroup var target: ScheduleArgument

    func run() async throws {
        try await target.act("deleted") { broker throws(BrokerError) in
            try await broker.deleteSchedule(target.name, on: target.queue)
        }
    }
}

/// The command `errand schedule pause`.
struct SchedulePauseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause",
        abstract: "Pauses a schedule.",
        discussion: """
            Example:
              errand schedule pause nightly --queue reports
            """
    )

    @OptionGroup var target: ScheduleArgument

    func run() async throws {
        try await target.act("paused") { broker throws(BrokerError) in
            try await broker.pauseSchedule(target.name, on: target.queue)
        }
    }
}

/// The command `errand schedule resume`.
struct ScheduleResumeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume",
        abstract: "Resumes a paused schedule from now on; ticks missed meanwhile are not pushed.",
        discussion: """
            Example:
              errand schedule resume nightly --queue reports
            """
    )

    @OptionGroup var target: ScheduleArgument

    func run() async throws {
        try await target.act("resumed") { broker throws(BrokerError) in
            try await broker.resumeSchedule(target.name, on: target.queue)
        }
    }
}

/// The command `errand schedule run`.
struct ScheduleRunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Pushes one job of a schedule at once; its ticks stay as they are.",
        discussion: """
            With --json, the receipt is an object like that of errand-producer.

            Example:
              errand schedule run nightly --queue reports
            """
    )

    @OptionGroup var target: ScheduleArgument

    func run() async throws {
        try await target.options.withBroker { broker in
            try await broker.checkExists(target.queue)
            guard let receipt = try await broker.runSchedule(target.name, on: target.queue) else {
                throw target.notFound
            }
            StandardOutput.write(
                target.options.json ? receipt.json.bytes : Array("\(receipt.id) \(receipt.outcome.rawValue)".utf8)
            )
        }
    }
}
