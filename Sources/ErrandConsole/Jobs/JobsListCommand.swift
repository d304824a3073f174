import ArgumentParser
import Errand
import ErrandCommandLine
import ErrandOperator
import ErrandRedis

/// The command `errand jobs list`.
struct JobsListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Lists jobs.",
        discussion: """
            Without --state it lists every unfinished job and the dead ones. Ended jobs are listed for as long as their \
            queue keeps their history. With --json, each job is an object on a line of its own.

            Dead jobs alone are listed newest first across queues, other jobs queue by queue.

            A list stops after it has examined many jobs, and prints how to continue. The time of a job, for --since and \
            --until, is the time at which it became ready, is due, ended or died.

            On a terminal the table shortens ids (commands on jobs accept these), shows relative times and cuts long texts; \
            --full shows all of it. Empty columns are left out. --sort sorts the jobs of the list.

            With --by-error it lists the errors of dead jobs instead, up to numbers and ids, which are printed as #, with the \
            number of jobs of each. It examines the newest dead jobs only. --error-like takes such an error as a filter.

            Examples:
              errand jobs --state dead --queue images
              errand jobs --state dead --by-error
              errand jobs --state dead --sort time --full
              errand jobs list --operation thumbnail --error timeout --since 2h --json
              errand jobs list --name-contains cat --from default:ready:20000
            """
    )

    @OptionGroup var filter: FilterOptions

    @Option(help: ArgumentHelp("The largest number of jobs to list.", valueName: "n"))
    var limit = 100

    @Option(
        help: ArgumentHelp(
            "The largest number of jobs to examine. (default: 20000, and no longer than 200 ms)",
            valueName: "n"
        )
    )
    var scan: Int?

    @Option(help: ArgumentHelp("The position to continue from, as printed by an earlier list.", valueName: "cursor"))
    var from: ListPlace?

    @Option(help: "What the table is sorted by: times from the latest, attempts from the most.")
    var sort: JobOrder?

    @Flag(help: "List the errors of the newest dead jobs, with the number of jobs of each.")
    var byError = false

    @OptionGroup var list: ListOptions
    @OptionGroup var options: ConsoleOptions

    func validate() throws {
        if limit < 1 { throw ValidationError("--limit must be 1 or more") }
        if let scan, scan < 1 { throw ValidationError("--scan must be 1 or more") }
        if case .newest = from, filter.states != [.dead] {
            throw ValidationError("--from newest:… needs --state dead, and no other state")
        }
        guard byError else { return }
        if filter.states != [.dead] { throw ValidationError("--by-error needs --state dead, and no other state") }
        if from != nil || sort != nil { throw ValidationError("--by-error goes with neither --from nor --sort") }
    }

    func run() async throws {
        try await options.withBroker { broker in
            let queues = try await filter.queues.reachableQueues(of: broker)
            let jobFilter = try await filter.filter(in: queues.names, of: broker)
            let search = JobSearch(broker, in: queues.names, filter.states, for: jobFilter)
            let dead = NewestDeadJobs(broker, in: queues.names, for: jobFilter)
            if byError {
                let unreadable = try await listErrors(dead, search, for: jobFilter)
                return try (queues.lost + unreadable).fail("the errors of the other jobs are listed")
            }
            let unreadable =
                switch from {
                case .position(let cursor): try await list(search, cursor)
                case .newest(let cursor): try await listDead(dead, search, cursor)
                case nil where filter.states == [.dead]: try await listDead(dead, search, nil)
                case nil: try await list(search, nil)
                }
            try (queues.lost + unreadable).fail("the other jobs are listed")
        }
    }

    private func list(_ search: JobSearch, _ cursor: SearchCursor?) async throws -> [UnreadablePlace] {
        let outcome = try await search.run(from: cursor, limits)
        show(outcome.jobs)
        if let next = outcome.next {
            let extent = try await search.extent(upTo: next)
            tell(extent.before, extent.total, next.text)
        }
        return outcome.unreadable
    }

    /// Lists dead jobs, newest first.
    private func listDead(
        _ jobs: NewestDeadJobs,
        _ search: JobSearch,
        _ cursor: NewestCursor?
    ) async throws -> [UnreadablePlace] {
        let outcome = try await jobs.page(from: cursor, limits)
        show(outcome.jobs)
        if let next = outcome.next { tell(outcome.looked, try await Self.count(search), next.text) }
        return outcome.unreadable
    }

    /// Returns the number of all jobs that a search may examine.
    private static func count(_ search: JobSearch) async throws -> Int? {
        try await search.extent(upTo: SearchCursor(queue: "", state: .dead, position: 0)).total
    }

    private func listErrors(
        _ jobs: NewestDeadJobs,
        _ search: JobSearch,
        for filter: JobFilter
    ) async throws -> [UnreadablePlace] {
        let limits =
            scan.map { JobSearch.Limits(found: $0, looked: $0, time: .seconds(3600)) }
            ?? ErrorGroups.limits(for: filter)
        let outcome = try await jobs.page(limits)
        let groups = Array(ErrorGroups(outcome.jobs).groups.prefix(limit))
        if options.json {
            for group in groups { StandardOutput.write(group.json.bytes) }
        } else {
            ErrorListing(groups: groups, style: list.style).print()
        }
        if outcome.next != nil {
            let total = try await Self.count(search)
            let words =
                "examined the newest \(outcome.looked.grouped)\(total.map { " of \($0.grouped)" } ?? "") dead jobs"
            StandardError.write("\(words); --scan sets how many")
        }
        return outcome.unreadable
    }

    private func show(_ jobs: [JobSummary]) {
        if options.json { return jobs.forEach { StandardOutput.write($0.json().bytes) } }
        JobListing(jobs: sort?.sorted(jobs) ?? jobs, style: list.style).print()
    }

    private var limits: JobSearch.Limits {
        guard let scan else { return JobSearch.Limits(found: limit) }
        return JobSearch.Limits(found: limit, looked: scan, time: .seconds(3600))
    }

    private func tell(_ examined: Int, _ total: Int?, _ next: String) {
        StandardError.write(
            "examined \(examined.grouped)\(total.map { " of \($0.grouped)" } ?? ""); continue with --from \(next.terminalSafe)"
        )
    }
}

/// The place from which a list continues.
enum ListPlace: ExpressibleByArgument {
    case position(SearchCursor)
    case newest(NewestCursor)

    /// Parses the cursor that a list has printed.
    init?(argument: String) {
        if let cursor = NewestCursor(argument) {
            self = .newest(cursor)
        } else if let cursor = SearchCursor(argument) {
            self = .position(cursor)
        } else {
            return nil
        }
    }
}
