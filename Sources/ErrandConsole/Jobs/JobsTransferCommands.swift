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
            var (count, unreadable) = (0, 0)
            // A job that moves while one looks comes by twice.
            var exported: Set<[String]> = []
            var cursor: SearchCursor?
            repeat {
                let outcome = try await search.run(from: cursor, JobSearch.Limits(found: 500, looked: 5000))
                for job in outcome.jobs where exported.insert([job.queue, job.record.id]).inserted {
                    guard let line = line(of: job) else {
                        unreadable += 1
                        continue
                    }
                    StandardOutput.write(line)
                    count += 1
                }
                cursor = outcome.next
            } while cursor != nil
            StandardError.write("\(count.counted("job")) exported")
            if unreadable > 0 {
                throw CommandFailure("\(unreadable.counted("job")) cannot be read", ExitStatus.unsuccessful)
            }
        }
    }

    private func line(of job: JobSummary) -> [UInt8]? {
        guard let description = job.stored?.description else { return nil }
        return JSONOutput.written((newIds ? description.withoutID() : description).encoded()).bytes
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
