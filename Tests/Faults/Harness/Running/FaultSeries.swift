import ErrandCommandLine

/// Runs scenarios, some of them concurrently, and repeats those that were late.
struct FaultSeries {
    let runner: FaultRunner
    /// The number of concurrent scenarios.
    let lanes: Int
    /// How often a scenario that was late or without an injection is repeated.
    let again: Int
    /// Receives each final report.
    let onReport: @Sendable (FaultReport) -> Void

    /// Runs all scenarios, and returns their reports in order.
    func play(_ scenarios: [Scenario]) async -> [FaultReport] {
        var reports: [String: FaultReport] = [:]
        for report in await playOnce(scenarios) { reports[report.scenario] = report }
        // Alone, so that a busy machine is no excuse.
        for scenario in scenarios {
            while let report = reports[scenario.id], isToBePlayedAgain(report) {
                reports[scenario.id] = await playAgain(scenario, after: report)
            }
        }
        return scenarios.compactMap { reports[$0.id] }
    }

    private func playOnce(_ scenarios: [Scenario]) async -> [FaultReport] {
        let numbered = scenarios.enumerated().map { (number: $0 + 1, scenario: $1) }
        var reports = await playBeside(numbered.filter { !$0.scenario.isAlone }, of: scenarios.count)
        for (number, scenario) in numbered where scenario.isAlone {
            reports.append(await play(scenario, number, of: scenarios.count))
        }
        return reports
    }

    private func playBeside(_ scenarios: [(number: Int, scenario: Scenario)], of count: Int) async -> [FaultReport] {
        await withTaskGroup(of: FaultReport.self) { group in
            var reports: [FaultReport] = []
            var underWay = 0
            for (number, scenario) in scenarios {
                if underWay >= lanes, let report = await group.next() {
                    reports.append(report)
                    underWay -= 1
                }
                group.addTask { await play(scenario, number, of: count) }
                underWay += 1
            }
            for await report in group { reports.append(report) }
            return reports
        }
    }

    private func play(_ scenario: Scenario, _ number: Int, of count: Int) async -> FaultReport {
        StandardError.write("[\(number)/\(count)] \(scenario.id) \(scenario.title)")
        return tell(await runner.run(scenario))
    }

    private func playAgain(_ scenario: Scenario, after earlier: FaultReport) async -> FaultReport {
        StandardError.write("    \(scenario.id) once more")
        var report = await runner.run(scenario)
        report.attempts = earlier.attempts + 1
        report.earlierProblems = earlier.earlierProblems + earlier.problems
        return tell(report)
    }

    private func isToBePlayedAgain(_ report: FaultReport) -> Bool {
        !report.passed && report.mayBeLate && report.attempts <= again
    }

    private func tell(_ report: FaultReport) -> FaultReport {
        for problem in report.passed ? [] : report.problems {
            StandardError.write("    \(report.scenario): \(problem)")
        }
        if !isToBePlayedAgain(report) { onReport(report) }
        return report
    }
}
