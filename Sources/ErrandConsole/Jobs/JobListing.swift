import Errand
import ErrandCommandLine
import ErrandOperator

/// A writer of jobs as they are found: JSON lines immediately, a table at the end.
struct JobListing {
    private let asJSON: Bool
    private var isEmpty = true
    private var table = TextTable([
        ("ID", .left), ("QUEUE", .left), ("STATE", .left), ("OPERATION", .left), ("NAME", .left), ("ATTEMPT", .right),
        ("CRASHES", .right), ("SINCE/AT", .left), ("ERROR", .left), ("RESULT", .left),
    ])

    init(asJSON: Bool) { self.asJSON = asJSON }

    mutating func add(_ job: JobSummary) {
        isEmpty = false
        if asJSON { return StandardOutput.write(job.json().bytes) }
        table.add([
            TextTable.Cell(job.record.id, atMost: 64), TextTable.Cell(job.queue, atMost: 40),
            TextTable.Cell(job.record.state.rawValue, colour: job.record.state.colour),
            TextTable.Cell(job.operation ?? "-", atMost: 40), TextTable.Cell(job.name ?? "-", atMost: 40),
            TextTable.Cell(job.attempt.map { "\($0)" } ?? "-"), "\(job.record.crashes)",
            TextTable.Cell((job.since ?? job.record.at).map(Timestamp.text) ?? "-"),
            TextTable.Cell(job.error ?? "-", atMost: 60), TextTable.Cell(job.result ?? "-", atMost: 40),
        ])
    }

    func finish() {
        if asJSON { return }
        if isEmpty { return StandardError.write("no such jobs") }
        table.print()
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
