import Errand
import ErrandOperator

/// A confirmed question about jobs. The action applies to the jobs that it was about, however long the confirmation
/// took.
struct JobQuestion: Sendable {
    /// The jobs that the question was about.
    struct Found: Sendable {
        var selection = JobSelection()
        /// The number of other matching jobs that appeared after the question.
        var late = 0
        /// Whether the search found all jobs that existed during all of it.
        var isComplete = true
        /// The parts that could not be searched.
        var unreadable: [UnreadablePlace] = []
    }

    let search: JobSearch
    /// The time of the question, in milliseconds since 1970 UTC, if it matters.
    let asked: Int64?
    /// The number of jobs that the question stated, if any.
    let counted: Int?

    /// Searches for the jobs.
    ///
    /// - Throws: ``CountExceeded`` if there are more jobs than the question stated, or an error of the broker.
    func select() async throws -> Found {
        var (found, late) = (JobSelection(), JobSelection())
        let part = JobSearch.Limits(found: 5000, looked: 5000, time: .seconds(1))
        let completeness = try await search.runAll(by: part) { jobs, _ in
            let before = found.count
            found.add(jobs.filter { wasThere($0) })
            late.add(jobs.filter { !wasThere($0) })
            return found.count - before
        }
        if let counted, !Task.isCancelled, found.count > Self.most(for: counted) {
            throw CountExceeded(counted: counted, found: found.count)
        }
        return Found(
            selection: found,
            late: late.count,
            isComplete: completeness.isComplete,
            unreadable: completeness.unreadable
        )
    }

    /// Returns the accepted number of jobs. While workers are busy, the count is never exact: waiting jobs start, and
    /// running ones wait again.
    private static func most(for counted: Int) -> Int {
        let (most, isTooMuch) = counted.addingReportingOverflow(max(100, counted / 10))
        return isTooMuch ? .max : most
    }

    /// Returns whether a job existed when the question was asked.
    ///
    /// For an unfinished job, only the time is known at which it was pushed or last became ready, so a job that became
    /// ready again meanwhile is left alone, too. The search itself checks when jobs ended.
    private func wasThere(_ job: JobSummary) -> Bool {
        guard let asked, !job.record.state.hasEnded, let since = job.stored?.readySince else { return true }
        return since <= asked
    }
}

/// The error for a selection that has grown since the question: confirming ten jobs does not confirm a thousand.
struct CountExceeded: Error, CustomStringConvertible {
    let counted: Int
    let found: Int

    var description: String {
        "\(found.grouped) jobs match by now, and the question was about \(counted.grouped); nothing was done"
    }
}
