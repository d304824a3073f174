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
            Without --state: every job that has not ended, and the dead ones. Ended jobs are listed for as long as their \
            queue keeps their history. With --json, each job is an object on a line of its own.

            A list stops when it has looked at many jobs, and says how far it came and how to go on. A job's time, which \
            --since and --until look at, is when it came into line, is due, ended or died.

            Examples:
              errand jobs --state dead --queue images
              errand jobs list --operation thumbnail --error timeout --since 2h --json
              errand jobs list --name-contains cat --from default:ready:20000
            """
    )

    @OptionGroup var filter: FilterOptions

    @Option(help: ArgumentHelp("How many jobs to list at the most.", valueName: "n"))
    var limit = 100

    @Option(
        help: ArgumentHelp(
            "How many jobs to look at, at the most. (default: 20000, and no longer than 200 ms)",
            valueName: "n"
        )
    )
    var scan: Int?

    @Option(help: ArgumentHelp("Where to go on, as an earlier list said.", valueName: "cursor"))
    var from: SearchCursor?

    @OptionGroup var options: ConsoleOptions

    func validate() throws {
        if limit < 1 { throw ValidationError("--limit must be 1 or more") }
        if let scan, scan < 1 { throw ValidationError("--scan must be 1 or more") }
    }

    func run() async throws {
        try await options.withBroker { broker in
            let queues = try await filter.queues.queues(of: broker)
            let search = JobSearch(broker, in: queues, filter.states, for: filter.filter())
            let outcome = try await search.run(from: from, limits)
            var listing = JobListing(asJSON: options.json)
            for job in outcome.jobs { listing.add(job) }
            listing.finish()
            if let next = outcome.next { try await tell(next, search, broker) }
            try outcome.unreadable.fail("the other jobs are listed")
        }
    }

    private var limits: JobSearch.Limits {
        guard let scan else { return JobSearch.Limits(found: limit) }
        return JobSearch.Limits(found: limit, looked: scan, time: .seconds(3600))
    }

    private func tell(_ next: SearchCursor, _ search: JobSearch, _ broker: RedisBroker) async throws {
        let extent = try await search.extent(upTo: next)
        StandardError.write(
            "looked at \(extent.before.grouped)\(extent.total.map { " of \($0.grouped)" } ?? ""); go on with --from \(next.text)"
        )
    }
}

extension SearchCursor: ExpressibleByArgument {
    /// Parses the cursor that a list has printed.
    public init?(argument: String) { self.init(argument) }
}
