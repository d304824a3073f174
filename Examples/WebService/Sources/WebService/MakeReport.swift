import Errand

/// The job: makes a user's report of a month, step by step. While one is being made, another request for it gets the same.
struct MakeReport: JobParameters {
    static let jobName = "report.make"
    static let jobDefaults = JobDefaults(
        queue: "reports",
        timeout: .seconds(60),
        retries: 3,
        uniqueness: .drop(by: \MakeReport.user, \MakeReport.month)
    )

    let user: String
    let month: String
}

/// The job's result.
struct Report: Codable, Sendable, Equatable {
    let month: String
    let lines: [String]
}

extension MakeReport {
    /// The handler. A run that is cancelled, or takes too long, ends at the next step.
    func make(_ context: JobContext) async throws -> Report {
        // Another try would not help, so the job is dead at once, for a person to look at.
        guard month.wholeMatch(of: /\d{4}-\d{2}/) != nil else {
            throw JobFailure("\(month) is no month", isFinal: true)
        }
        var lines: [String] = []
        for week in 1...4 {
            try await Task.sleep(for: .milliseconds(50))
            lines.append("week \(week) of \(month) for \(user)")
            try await context.progress(Double(week) / 4, "week \(week)")
        }
        return Report(month: month, lines: lines)
    }
}
