package import Errand

extension JobSearch {
    /// The warning for a search that may have missed jobs.
    package static let someMayBeMissing = "some matching jobs may be missing, because the queue kept changing"

    private static let mostPasses = 5

    /// Searches everything in bounded parts, and repeats the search until it finds nothing new, at most five times.
    ///
    /// A claimed job leaves its ready list, and those behind it move up past a reader that goes page by page. The next
    /// pass finds them. Jobs that fit into one page or do not move need only one pass.
    ///
    /// - Parameters:
    ///   - part: The limits of one part, after which `take` is called.
    ///   - take: Receives the jobs of a part and the number of jobs that this pass has examined. It returns how many of
    ///     the jobs are new to it: a job may be found several times.
    package func runAll(
        by part: Limits,
        take: (_ found: [JobSummary], _ looked: Int) -> Int
    ) async throws(BrokerError) -> Completeness {
        var completeness = Completeness(isComplete: false)
        for pass in 1...Self.mostPasses {
            let (looked, new, unreadable) = try await runOnce(by: part, take)
            completeness.unreadable = unreadable
            if Task.isCancelled { break }
            let isStill = !looksAtMovingJobs || (isOnePlace && looked <= Self.pageSize)
            // The first pass may have missed everything, so its result proves nothing.
            completeness.isComplete = isStill || (pass > 1 && new == 0)
            if completeness.isComplete { break }
        }
        return completeness
    }

    /// Whether a search was complete.
    package struct Completeness: Sendable {
        /// Whether the search found all readable jobs. If not, the queue changed during every pass, or the task was
        /// cancelled.
        package var isComplete: Bool
        /// The parts that could not be read.
        package var unreadable: [UnreadablePlace] = []

        /// Makes a result.
        package init(isComplete: Bool) { self.isComplete = isComplete }
    }

    private func runOnce(
        by part: Limits,
        _ take: (_ found: [JobSummary], _ looked: Int) -> Int
    ) async throws(BrokerError) -> (looked: Int, new: Int, unreadable: [UnreadablePlace]) {
        var (looked, new, cursor, unreadable) = (0, 0, SearchCursor?.none, [UnreadablePlace]())
        repeat {
            let outcome = try await run(from: cursor, part)
            let (sum, isTooMuch) = looked.addingReportingOverflow(outcome.looked)
            looked = isTooMuch ? .max : sum
            new += take(outcome.jobs, looked)
            unreadable += outcome.unreadable
            cursor = outcome.next
        } while cursor != nil && !Task.isCancelled
        return (looked, new, unreadable)
    }
}
