import ArgumentParser
import Errand
import ErrandCommandLine
import ErrandOperator
import ErrandRedis
import Foundation

/// The command `errand statistics`.
struct StatisticsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "statistics",
        abstract: "Shows how long jobs waited and ran, by operation.",
        discussion: """
            Examples:
              errand statistics
              errand statistics --last 24h --queue images
              errand statistics --last 7d --json

            Workers report the outcomes and times of their runs every five seconds; a worker that is killed loses its last
            ones. p50, p95 and p99 are the times that 50, 95 and 99 % of the runs did not exceed, estimated from buckets
            whose limits are up to 25 % apart. A job waits from the time at which it becomes ready until its run begins.
            The operation "*" stands for all beyond the first fifty of a queue.
            """
    )

    @OptionGroup var queues: QueueOptions

    @Option(help: "The period up to now: 15m, 1h, 24h or 7d.")
    var last = StatisticsPeriod.hour

    @OptionGroup var list: ListOptions
    @OptionGroup var options: ConsoleOptions

    func run() async throws {
        try await options.withBroker { broker in
            let names = try await queues.queues(of: broker)
            let now = Int64(Date().timeIntervalSince1970 * 1000)
            let read = try await names.readingEach { [last] queue throws(BrokerError) in
                try await broker.statistics(of: queue, last, now: now, withRuns: true)
            }
            show(read.values.flatMap { OperationTimes.rows(of: $0.queue, $0.value) })
            read.unreadable.warn()
            if let failure = read.unreadable.failure("the others are shown") { throw failure }
        }
    }

    private func show(_ rows: [OperationTimes]) {
        if options.json {
            let json: JSONOutput = ["last": .text(last.rawValue), "operations": .list(rows.map(\.json))]
            return StandardOutput.write(json.bytes)
        }
        guard !rows.isEmpty else { return StandardOutput.write("no runs in the last \(last.words)") }
        table(of: rows).print(width: list.style.width)
    }

    private func table(of rows: [OperationTimes]) -> TextTable {
        let times = ["WAIT", "RUN"].flatMap { name in
            OperationTimes.shares.map { TextColumn.right("\(name) \($0.name)").dropped($0.name == "p50" ? 3 : 2) }
        }
        var table = TextTable(
            [
                .left("QUEUE").cut(to: 8), .left("OPERATION").cut(to: 10), .right("FINISHED"),
                .right("FAILED").optional, .right("TIMED OUT").optional.dropped(1), .right("DEAD").optional,
            ] + times
        )
        for row in rows {
            let counts = [row.statistics.finished, row.statistics.failed, row.statistics.timedOut, row.statistics.dead]
            let durations = [row.statistics.waiting, row.statistics.running].flatMap(OperationTimes.percentiles)
            table.add(
                [TextTable.Cell(row.queue), TextTable.Cell(row.operation ?? "")]
                    + counts.enumerated().map { place, count in
                        TextTable.Cell(
                            list.style.isFull ? "\(count)" : count.grouped,
                            colour: place == 3 && count > 0 ? .red : nil
                        )
                    } + durations.map { TextTable.Cell($0) }
            )
        }
        return table
    }
}

extension StatisticsPeriod: ExpressibleByArgument {}
