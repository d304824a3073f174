import Errand
import ErrandOperator

/// A question that was answered with yes: what it was about is what is acted on, however long the answer took.
struct JobQuestion: Sendable {
    /// The jobs that it is about.
    struct Found: Sendable {
        var selection = JobSelection()
        /// How many others match, but came after it.
        var late = 0
        /// Whether none was missed that was there all the while.
        var isComplete = true
        /// What could not be looked through.
        var unreadable: [UnreadablePlace] = []
    }

    let search: JobSearch
    /// When it was asked, in milliseconds since 1970 UTC, where that matters.
    let asked: Int64?
    /// How many jobs it said, if it said a number.
    let counted: Int?

    /// Looks for the jobs.
    ///
    /// - Throws: ``Outgrown`` when they are more than the question said; besides what the broker throws.
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
            throw Outgrown(counted: counted, found: found.count)
        }
        return Found(
            selection: found,
            late: late.count,
            isComplete: completeness.isComplete,
            unreadable: completeness.unreadable
        )
    }

    /// Of so many the number is never exact while workers are busy: jobs that wait begin to run, and the other way round.
    private static func most(for counted: Int) -> Int {
        let (most, isTooMuch) = counted.addingReportingOverflow(max(100, counted / 10))
        return isTooMuch ? .max : most
    }

    /// Whether a job was there already when the question was asked.
    ///
    /// Of a job that has not ended only the time is known at which it was pushed or came into line last; so one that came back into
    /// line meanwhile is left alone, too. When a job has ended is a matter of the search.
    private func wasThere(_ job: JobSummary) -> Bool {
        guard let asked, !job.record.state.hasEnded, let since = job.stored?.readySince else { return true }
        return since <= asked
    }
}

/// There are more jobs by now than the question said: who said yes to ten has not said yes to a thousand.
struct Outgrown: Error, CustomStringConvertible {
    let counted: Int
    let found: Int

    var description: String {
        "\(found.grouped) jobs match by now, and the question was about \(counted.grouped); nothing was done"
    }
}
