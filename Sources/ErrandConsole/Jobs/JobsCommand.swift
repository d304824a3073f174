import ArgumentParser
import Errand
import ErrandCommandLine

/// `errand jobs`.
struct JobsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "jobs",
        abstract: "Lists jobs.",
        discussion: """
            Without --state: every job that has not ended, and the dead ones. Ended jobs are listed for as long as their \
            queue keeps their history. With --json, each job is an object on a line of its own.

            Examples:
              errand jobs --state dead --queue images
              errand jobs --operation thumbnail --limit 1000 --json
            """
    )

    @OptionGroup var queues: QueueOptions

    @Option(name: .customLong("state"), help: "Only jobs in this state; may be given several times.")
    var states: [JobState] = []

    @Option(help: ArgumentHelp("Only jobs of this operation.", valueName: "operation"))
    var operation: String?

    @Option(help: ArgumentHelp("Only jobs of this name.", valueName: "name"))
    var name: String?

    @Option(help: ArgumentHelp("How many jobs to list at the most.", valueName: "n"))
    var limit = 100

    @OptionGroup var options: ConsoleOptions

    func validate() throws {
        if limit < 1 { throw ValidationError("--limit must be 1 or more") }
    }

    func run() async throws {
        try await options.withBroker { broker in
            var listing = JobListing(asJSON: options.json, limit: limit)
            let pages = JobPages(broker: broker, states: states.isEmpty ? JobPages.unfinished : states)
            for queue in try await queues.queues(of: broker) where !listing.isFull {
                try await pages.read(queue) { job in
                    if matches(job) { listing.add(job) }
                    return !listing.isFull
                }
            }
            listing.finish()
        }
    }

    /// Names are compared byte by byte.
    private func matches(_ job: JobSummary) -> Bool {
        if let operation, job.operation != operation { return false }
        guard let name else { return true }
        return job.name.map { $0.utf8.elementsEqual(name.utf8) } ?? false
    }
}
