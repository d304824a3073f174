package import Errand

extension JobSearch {
    /// What is said where some jobs may have been missed.
    package static let someMayBeMissing = "some may be missing: the queue changed all the while"

    private static let mostPasses = 5

    /// Looks through everything, a bounded part at a time, and again until nothing new is found; five times at most.
    ///
    /// A job that is claimed leaves its line, and those behind it move up: past whoever reads the line page by page. The
    /// next pass finds them. What is read in one page, or stays where it is, is looked through once.
    ///
    /// - Parameters:
    ///   - part: How much is looked at before `take` is called.
    ///   - take: Takes a part in. It is told how many jobs this pass has looked at, and answers how many of those that
    ///     it got are new to it: a job may come by several times.
    /// - Returns: Whether nothing was missed. If not, the queue changed during every pass, or the task was cancelled.
    package func runAll(
        by part: Limits,
        take: (_ found: [JobSummary], _ looked: Int) -> Int
    ) async throws(BrokerError) -> Bool {
        for pass in 1...Self.mostPasses {
            let (looked, new) = try await runOnce(by: part, take)
            if Task.isCancelled { return false }
            if !looksAtMovingJobs || (isOnePlace && looked <= Self.pageSize) { return true }
            // The first pass may have missed all there is.
            if pass > 1, new == 0 { return true }
        }
        return false
    }

    private func runOnce(
        by part: Limits,
        _ take: (_ found: [JobSummary], _ looked: Int) -> Int
    ) async throws(BrokerError) -> (looked: Int, new: Int) {
        var (looked, new, cursor) = (0, 0, SearchCursor?.none)
        repeat {
            let outcome = try await run(from: cursor, part)
            let (sum, isTooMuch) = looked.addingReportingOverflow(outcome.looked)
            looked = isTooMuch ? .max : sum
            new += take(outcome.jobs, looked)
            cursor = outcome.next
        } while cursor != nil && !Task.isCancelled
        return (looked, new)
    }
}
