import Errand
import ErrandOperator

/// One page of a list of jobs.
struct JobList: Sendable {
    static let jobsAPage = 50

    let jobs: [JobSummary]
    /// The cursor of the next page, if there is one.
    let next: String?
    /// How far the list came, in words.
    let extent: String
    let unreadable: [UnreadablePlace]
    /// The dead jobs by error; on the first page of the dead only.
    var groups: [ErrorGroup] = []
    /// How many jobs the groups are of, in words.
    var groupExtent = ""
}

extension JobList {
    /// Reads the jobs of any states, queue by queue.
    static func read(
        _ wanted: JobsRequest,
        in queues: [String],
        _ counts: JobCounts,
        on broker: any ConsoleBroker
    ) async throws(BrokerError) -> JobList {
        let search = JobSearch(broker, in: queues, wanted.states, for: wanted.filter)
        let outcome = try await search.run(from: wanted.cursor, JobSearch.Limits(found: jobsAPage))
        return JobList(
            jobs: outcome.jobs,
            next: outcome.next?.text,
            extent: extent(outcome, search, wanted, counts),
            unreadable: outcome.unreadable
        )
    }

    private static func extent(
        _ outcome: JobSearch.Outcome,
        _ search: JobSearch,
        _ wanted: JobsRequest,
        _ counts: JobCounts
    ) -> String {
        guard let next = outcome.next else { return ending(outcome.jobs.count, isFirst: wanted.cursor == nil) }
        let extent = search.extent(upTo: next, in: counts.statuses)
        let words = wanted.filter.isEmpty ? "Shown up to" : "Scanned"
        return "\(words) \(extent.before.grouped)\(extent.total.map { " of \($0.grouped)" } ?? "")."
    }

    private static func ending(_ count: Int, isFirst: Bool) -> String {
        isFirst ? "\(count.grouped) found; that is all." : "That is all."
    }
}

extension JobList {
    /// Reads the dead jobs of all queues together, newest first. The first page also has them by error.
    static func readDead(
        _ wanted: JobsRequest,
        in queues: [String],
        _ counts: JobCounts,
        on broker: any ConsoleBroker
    ) async throws(BrokerError) -> JobList {
        let list = NewestDeadJobs(broker, in: queues, for: wanted.filter)
        let isGrouped = wanted.newest == nil && wanted.filter.errorPattern == nil
        let limits = isGrouped ? ErrorGroups.limits(for: wanted.filter) : JobSearch.Limits(found: jobsAPage)
        let outcome = try await list.page(from: wanted.newest, limits)
        let jobs = Array(outcome.jobs.prefix(jobsAPage))
        // The groups are of more jobs than the list shows.
        let isCut = outcome.jobs.count > jobs.count
        let next = isCut ? jobs.last.map(NewestCursor.init(behind:)) : outcome.next
        var page = JobList(
            jobs: jobs,
            next: next?.text,
            extent: deadExtent(outcome, jobs.count, next, wanted, counts),
            unreadable: outcome.unreadable
        )
        if isGrouped {
            page.groups = ErrorGroups(outcome.jobs).groups
            page.groupExtent = groupExtent(outcome, wanted, counts)
        }
        return page
    }

    private static func deadExtent(
        _ outcome: NewestDeadJobs.Outcome,
        _ shown: Int,
        _ next: NewestCursor?,
        _ wanted: JobsRequest,
        _ counts: JobCounts
    ) -> String {
        guard next != nil else { return ending(shown, isFirst: wanted.newest == nil) }
        let total = counts.count(of: [.dead]).map { " of \($0.grouped)" } ?? ""
        if wanted.newest != nil { return "Older ones, newest first." }
        if wanted.filter.isEmpty { return "Newest first: \(shown.grouped)\(total)." }
        return "Newest first. Scanned the newest \(outcome.looked.grouped)\(total)."
    }

    /// Describes how many jobs the groups are of: the newest, if there are more.
    private static func groupExtent(
        _ outcome: NewestDeadJobs.Outcome,
        _ wanted: JobsRequest,
        _ counts: JobCounts
    ) -> String {
        let matching = wanted.filter.isEmpty ? "" : " (\(outcome.jobs.count.grouped) of them match)"
        guard outcome.next != nil else { return "Of all \(outcome.looked.counted("dead job"))\(matching)." }
        let total = counts.count(of: [.dead]).map { " of \($0.grouped)" } ?? ""
        return "Of the newest \(outcome.looked.grouped)\(total) dead jobs\(matching)."
    }
}
