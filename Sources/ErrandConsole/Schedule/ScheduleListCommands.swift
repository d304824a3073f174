import ArgumentParser
import Errand
import ErrandCommandLine
import ErrandOperator
import ErrandRedis

/// The command `errand schedule list`.
struct ScheduleListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Lists schedules with their next and last ticks, and where they come from.",
        discussion: """
            A schedule comes from a program, from a catalogue, or from a person (errand schedule add). A \
            schedule that was removed from its catalogue still ticks until it is deleted.
            With --json, each schedule is an object on a line of its own.

            Examples:
              errand schedule list
              errand schedule list --queue reports --json
            """
    )

    @OptionGroup var queues: QueueOptions
    @OptionGroup var list: ListOptions
    @OptionGroup var options: ConsoleOptions

    func run() async throws {
        try await options.withBroker { broker in
            var table = TextTable([
                .left("NAME").cut(to: 10), .left("QUEUE").cut(to: 8), .left("TICKS").cut(to: 12),
                .left("OPERATION").cut(to: 10).dropped(3), .left("FROM").cut(to: 8).dropped(4), .left("NEXT"),
                .left("LAST").dropped(5), .right("PUSHED").dropped(2), .right("MISSED").optional.dropped(1),
            ])
            var (count, deleted): (Int, [String]) = (0, [])
            let (read, unreadable) = try await queues.queues(of: broker).readingEach { queue throws(BrokerError) in
                (
                    deleted: try await broker.declaredDeletedSchedules(on: queue),
                    schedules: try await broker.schedules(on: queue)
                )
            }
            for (queue, found) in read {
                if !options.json { deleted += found.deleted.compactMap { note($0, queue) } }
                for record in found.schedules {
                    count += 1
                    if options.json {
                        StandardOutput.write(ScheduleSummary(queue: queue, record: record).json.bytes)
                    } else {
                        table.add(row(of: record, in: queue))
                    }
                }
            }
            if !options.json {
                for note in deleted { StandardError.write(note) }
                if count == 0 { StandardError.write("no schedules") } else { table.print(width: list.style.width) }
            }
            try unreadable.fail("the schedules of the others are listed")
        }
    }

    private func note(_ record: ScheduleRecord, _ queue: String) -> String? {
        record.rejectedDeclaration.map {
            "note: \(record.name) of \(queue) is deleted, though \($0.catalogue ?? "a program") still had it at \(Timestamp.text($0.at))"
                .onOneLine()
        }
    }

    private static func origin(of record: ScheduleRecord) -> TextTable.Cell {
        guard let origin = record.schedule?.origin else { return TextTable.Cell("-") }
        return TextTable.Cell(origin.description, colour: origin.removed == nil ? nil : .yellow, atMost: 60)
    }

    private func row(of record: ScheduleRecord, in queue: String) -> [TextTable.Cell] {
        let (style, moments) = (list.style, MomentText())
        return [
            TextTable.Cell(record.name, atMost: 40), TextTable.Cell(queue, atMost: 40),
            record.schedule.map { TextTable.Cell($0.timing.description, atMost: 60) }
                ?? TextTable.Cell(record.problem?.description ?? "-", colour: .red, atMost: 60),
            TextTable.Cell(record.schedule?.template.operation ?? "-", atMost: 40), Self.origin(of: record),
            record.nextTick.map { TextTable.Cell(moments.cell($0, style)) }
                ?? TextTable.Cell("paused", colour: .yellow),
            TextTable.Cell(record.lastTick.map { moments.cell($0, style) } ?? "never"), "\(record.pushed)",
            "\(record.missed)",
        ]
    }
}

/// The command `errand schedule show`.
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
