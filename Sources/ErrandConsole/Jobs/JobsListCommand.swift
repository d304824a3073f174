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

            A list stops after it has examined many jobs, and prints how to continue. The time of a job, for --since and \
            --until, is the time at which it became ready, is due, ended or died.

            On a terminal the table shortens ids (commands on jobs accept these), shows relative times and cuts long texts; \
            --full shows all of it. Empty columns are left out. --sort sorts the jobs of the list.

            Examples:
              errand jobs --state dead --queue images
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
    var from: SearchCursor?

    @Option(help: "What the table is sorted by: times from the latest, attempts from the most.")
    var sort: JobOrder?

    @OptionGroup var list: ListOptions
    @OptionGroup var options: ConsoleOptions

    func validate() throws {
        if limit < 1 { throw ValidationError("--limit must be 1 or more") }
        if let scan, scan < 1 { throw ValidationError("--scan must be 1 or more") }
    }

    func run() async throws {
        try await options.withBroker { broker in
            let queues = try await filter.queues.queues(of: broker)
            let search = JobSearch(
                broker,
                in: queues,
                filter.states,
                for: try await filter.filter(in: queues, of: broker)
            )
            let outcome = try await search.run(from: from, limits)
            show(outcome.jobs)
            if let next = outcome.next { try await tell(next, search, broker) }
            try outcome.unreadable.fail("the other jobs are listed")
        }
    }

    private func show(_ jobs: [JobSummary]) {
        if options.json { return jobs.forEach { StandardOutput.write($0.json().bytes) } }
        JobListing(jobs: sort?.sorted(jobs) ?? jobs, style: list.style).print()
    }

    private var limits: JobSearch.Limits {
        guard let scan else { return JobSearch.Limits(found: limit) }
        return JobSearch.Limits(found: limit, looked: scan, time: .seconds(3600))
    }

    private func tell(_ next: SearchCursor, _ search: JobSearch, _ broker: RedisBroker) async throws {
        let extent = try await search.extent(upTo: next)
        StandardError.write(
            "examined \(extent.before.grouped)\(extent.total.map { " of \($0.grouped)" } ?? ""); continue with --from \(next.text)"
        )
    }
}

extension SearchCursor: ExpressibleByArgument {
    /// Parses the cursor that a list has printed.
    public init?(argument: String) { self.init(argument) }
}
