import ErrandCommandLine

/// The reports as a table for people.
struct FaultTable {
    private static let columns: [TextColumn] = [
        .left("scenario"), .right("injected"), .right("lost"), .right("unexpected"), .right("duplicates"),
        .right("stuck"), .right("recovery"), .right("audit"), .right("seconds"), .left(""), .left("what"),
    ]

    /// Prints the table and the problems below it.
    static func print(_ reports: [FaultReport]) {
        var table = TextTable(columns)
        for report in reports {
            table.add([
                .init(report.scenario), .init("\(report.injected)"), .init("\(report.lost)"),
                .init("\(report.unexpected)"),
                .init("\(report.duplicates)"), .init("\(report.stuck)"), .init("\(report.recoveryMilliseconds) ms"),
                .init(report.audit == 0 ? "clean" : "\(report.audit)"), .init("\(Int(report.seconds))"),
                verdict(report),
                .init(report.title + (report.serverLostData ? " (the server itself loses data here)" : "")),
            ])
        }
        table.print()
        for report in reports where !report.passed {
            for problem in report.problems { StandardOutput.write("\(report.scenario): \(problem)") }
            StandardOutput.write("\(report.scenario): again with: --only \(report.scenario) --seed \(report.seed)")
        }
    }

    private static func verdict(_ report: FaultReport) -> TextTable.Cell {
        if report.passed, report.attempts > 1 { return .init("ok at try \(report.attempts)", colour: .yellow) }
        if report.passed { return .init("ok", colour: .green) }
        return report.valid || report.isWrong ? .init("FAILED", colour: .red) : .init("INVALID", colour: .yellow)
    }
}
