import Errand
import ErrandCommandLine
import ErrandOperator

/// The table of jobs.
struct JobListing {
    let jobs: [JobSummary]
    let style: ListStyle

    /// Prints the table.
    func print() {
        if jobs.isEmpty { return StandardError.write("no such jobs") }
        var table = TextTable([
            .left("ID"), .left("QUEUE").cut(to: 8), .left("STATE"),
            .left("OPERATION").cut(to: 10), .left("NAME").optional.cut(to: 10).dropped(3),
            .right("ATTEMPT").optional.dropped(4), .right("CRASHES").optional.dropped(2), .left("TIME").optional,
            .left("RESULT").optional.cut(to: 12).dropped(1), .left("ERROR").optional.cut(to: 12),
        ])
        let (short, moments) = (ShortIDs(of: jobs.map(\.record.id)), MomentText())
        for job in jobs { table.add(row(of: job, short, moments)) }
        table.print(width: style.width)
    }

    /// Commands usually end their output with a line feed.
    private static func trimmed(_ result: String) -> String {
        String(result.reversed().drop { $0.isNewline }.reversed())
    }

    private func row(of job: JobSummary, _ short: ShortIDs, _ moments: MomentText) -> [TextTable.Cell] {
        [
            TextTable.Cell(style.isFull ? job.record.id : short.text(of: job.record.id), atMost: 64),
            TextTable.Cell(job.queue), TextTable.Cell(job.record.state.rawValue, colour: job.record.state.colour),
            TextTable.Cell(job.operation ?? "-", atMost: style.mostCharacters),
            TextTable.Cell(job.name ?? "-", atMost: style.mostCharacters),
            TextTable.Cell(job.attempt.map { "\($0)" } ?? "-"), "\(job.record.crashes)",
            TextTable.Cell((job.since ?? job.record.at).map { moments.cell($0, style) } ?? "-"),
            TextTable.Cell(job.result.map(Self.trimmed) ?? "-", atMost: style.mostCharacters),
            TextTable.Cell(job.error ?? "-", atMost: style.mostCharacters),
        ]
    }
}

extension JobState {
    /// The colour of the state on a terminal.
    var colour: Colour? {
        switch self {
        case .dead: .red
        case .retrying: .yellow
        case .finished: .green
        default: nil
        }
    }
}
