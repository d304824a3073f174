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
            // The first pass may have missed all there is.
            completeness.isComplete = isStill || (pass > 1 && new == 0)
            if completeness.isComplete { break }
        }
        return completeness
    }

    /// Whether a search has seen everything.
    package struct Completeness: Sendable {
        /// Whether nothing was missed of what can be read. If not, the queue changed during every pass, or the task was
        /// cancelled.
        package var isComplete: Bool
        /// What cannot be read.
        package var unreadable: [UnreadablePlace] = []

        /// Makes it.
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
