import ArgumentParser
import Errand
import ErrandCommandLine
import ErrandOperator

/// `errand jobs export`.
struct JobsExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Writes the descriptions of jobs, one a line, so that they can be pushed again.",
        discussion: """
            Without --state: every job that has not ended, and the dead ones. What has ended has no description any more. \
            Arguments may be private: treat the output as you treat them.

            Where workers are busy with a queue, it is looked through several times: jobs move up in their line meanwhile.

            A job keeps its id, so that importing it again where it still is makes no second one; --new-ids leaves the ids out.

            Examples:
              errand jobs export --queue images > images.ndjson
              errand jobs export --state dead --new-ids > again.ndjson
            """
    )

    @OptionGroup var filter: FilterOptions

    @Flag(help: "Leave the ids out: what is imported are new jobs.")
    var newIds = false

    @OptionGroup var options: ConsoleOptions

    func validate() throws {
        if let state = filter.states.first(where: \.hasEnded), state != .dead {
            throw ValidationError("\(state.rawValue) jobs have no description any more")
        }
    }

    func run() async throws {
        try await options.withBroker { broker in
            let queues = try await filter.queues.queues(of: broker)
            let search = JobSearch(broker, in: queues, filter.states, for: filter.filter())
            var export = JobsExport(withIDs: !newIds)
            let part = JobSearch.Limits(found: 500, looked: 5000)
            let isComplete = try await search.runAll(by: part) { found, _ in export.write(found) }
            try export.tell(isComplete: isComplete)
        }
    }
}

/// `errand jobs import`.
struct JobsImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Pushes the jobs that lines describe, as errand-producer push --from does.",
        discussion: """
            A bad line is told with its number and skipped; the rest is pushed.

            Examples:
              errand jobs import images.ndjson
              errand jobs export --redis $OLD | errand jobs import - --redis $NEW
            """
    )

    @Argument(help: ArgumentHelp("The file; - is standard input.", valueName: "file"))
    var file: String

    @OptionGroup var options: ConsoleOptions

    func run() async throws {
        try await reportingFailures {
            let input = try LineInput(file, lineLimit: DescriptionLimits.descriptionBytes)
            try await options.withBroker { broker in
                var push = LinesPush(input: input, producer: Producer(broker: broker), json: options.json)
                try await push.run()
            }
        }
    }
}
