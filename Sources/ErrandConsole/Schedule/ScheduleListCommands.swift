import ArgumentParser
import Errand
import ErrandCommandLine
import ErrandOperator
import ErrandRedis

/// `errand schedule list`.
struct ScheduleListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Lists schedules with their next and last ticks.",
        discussion: """
            With --json, each schedule is an object on a line of its own.

            Examples:
              errand schedule list
              errand schedule list --queue reports --json
            """
    )

    @OptionGroup var queues: QueueOptions
    @OptionGroup var options: ConsoleOptions

    func run() async throws {
        try await options.withBroker { broker in
            var table = TextTable([
                ("NAME", .left), ("QUEUE", .left), ("TICKS", .left), ("OPERATION", .left), ("NEXT", .left),
                ("LAST", .left),
                ("PUSHED", .right), ("MISSED", .right),
            ])
            var count = 0
            for queue in try await queues.queues(of: broker) {
                for record in try await broker.schedules(on: queue) {
                    count += 1
                    if options.json {
                        StandardOutput.write(ScheduleSummary(queue: queue, record: record).json.bytes)
                    } else {
                        table.add(Self.row(of: record, in: queue))
                    }
                }
            }
            if options.json { return }
            if count == 0 { StandardError.write("no schedules") } else { table.print() }
        }
    }

    private static func row(of record: ScheduleRecord, in queue: String) -> [TextTable.Cell] {
        [
            TextTable.Cell(record.name, atMost: 40), TextTable.Cell(queue, atMost: 40),
            record.schedule.map { TextTable.Cell($0.timing.description, atMost: 60) }
                ?? TextTable.Cell(record.problem?.description ?? "-", colour: .red, atMost: 60),
            TextTable.Cell(record.schedule?.template.operation ?? "-", atMost: 40),
            record.nextTick.map { TextTable.Cell(Timestamp.text($0)) } ?? TextTable.Cell("paused", colour: .yellow),
            TextTable.Cell(record.lastTick.map(Timestamp.text) ?? "never"), "\(record.pushed)", "\(record.missed)",
        ]
    }
}

/// `errand schedule show`.
struct ScheduleShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Shows a schedule, with its definition.",
        discussion: """
            Example:
              errand schedule show nightly --queue reports
            """
    )

    @OptionGroup var target: ScheduleArgument

    func run() async throws {
        try await target.options.withBroker { broker in
            let summary = ScheduleSummary(queue: target.queue, record: try await target.record(from: broker))
            if target.options.json { return StandardOutput.write(summary.json.bytes) }
            for line in summary.lines { StandardOutput.write(line) }
        }
    }
}
