import ArgumentParser
import Errand
import ErrandCommandLine
import ErrandOperator

/// The command `errand jobs export`.
struct JobsExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Writes the descriptions of jobs, one a line, so that they can be pushed again.",
        discussion: """
            Without --state it exports every unfinished job and the dead ones, except blocked jobs: pushed again, they \
            would not wait for others. The other jobs of workflows are exported as jobs outside of them. Ended jobs have no \
            description any more. Arguments may be private, so protect the output accordingly.

            A queue that workers are busy with is read several times, because its jobs move up meanwhile.

            A job keeps its id, so importing it where it still exists adds no second one; --new-ids leaves the ids out.

            Examples:
              errand jobs export --queue images > images.ndjson
              errand jobs export --state dead --new-ids > again.ndjson
            """
    )

    @OptionGroup var filter: FilterOptions

    @Flag(help: "Leave the ids out, so that an import pushes new jobs.")
    var newIds = false

    @OptionGroup var options: ConsoleOptions

    func validate() throws {
        if let state = filter.states.first(where: \.hasEnded), state != .dead {
            throw ValidationError("\(state.rawValue) jobs have no description any more")
        }
    }

    func run() async throws {
        try await options.withBroker { broker in
            let queues = try await filter.queues.reachableQueues(of: broker)
            let search = JobSearch(
                broker,
                in: queues.names,
                filter.states.isEmpty ? JobSearch.unfinished.filter { $0 != .blocked } : filter.states,
                for: try await filter.filter(in: queues.names, of: broker)
            )
            var export = JobsExport(withIDs: !newIds)
            let part = JobSearch.Limits(found: 500, looked: 5000)
            var completeness: JobSearch.Completeness
            do throws(BrokerError) {
                completeness = try await search.runAll(by: part) { found, _ in export.write(found) }
            } catch { throw export.failure(error) }
            completeness.unreadable += queues.lost
            try export.tell(completeness)
        }
    }
}

/// The command `errand jobs import`.
struct JobsImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Pushes the jobs that the lines of a file describe, like errand-producer push --from.",
        discussion: """
            A bad line is reported with its number and skipped; the rest is pushed.

            A job that is still in its queue is not pushed a second time. If a job with the same id has ended within the \
            last minute or two (remember-ids of the queue), the queue takes the line for a repetition and does not restore \
            the job: the command prints how many of these there are, and exits with 1.

            Examples:
              errand jobs import images.ndjson
              errand jobs export --redis $OLD | errand jobs import - --redis $NEW
            """
    )

    @Argument(help: ArgumentHelp("The file; - is standard input.", valueName: "file"))
    var file: String

    @Flag(help: "Give every job a new id, even if no job with the old id exists.")
    var newIds = false

    @OptionGroup var options: ConsoleOptions

    func run() async throws {
        try await reportingFailures {
            let input = try LineInput(file, lineLimit: DescriptionLimits.descriptionBytes)
            try await options.withBroker { broker in
                var push = LinesPush(input: input, producer: Producer(broker: broker), json: options.json) {
                    newIds ? $0.withoutID() : $0
                }
                var repetitions = ImportRepetitions()
                try await push.run { try await repetitions.look(at: $0, on: broker) }
                if let failure = repetitions.failure { throw failure }
            }
        }
    }
}
