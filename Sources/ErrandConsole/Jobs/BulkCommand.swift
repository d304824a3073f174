import ArgumentParser
import Errand
import ErrandCommandLine
import ErrandOperator
import ErrandRedis

/// The options of all commands that act on many jobs.
struct BulkOptions: ParsableArguments {
    @OptionGroup var filter: FilterOptions

    @Flag(help: "Do not ask for confirmation.")
    var yes = false

    @OptionGroup var options: ConsoleOptions

    /// Selects the jobs, reports their number, asks for confirmation, and performs the action.
    func perform(_ action: BulkAction) async throws {
        try await reportingFailures { try check(action) }
        try await options.withBroker { broker in
            let queues = try await filter.queues.reachableQueues(of: broker)
            let selection = try await select(action, in: queues.names, broker)
            if !selection.isComplete { StandardError.write("warning: \(JobSearch.someMayBeMissing)") }
            let unreadable = queues.lost + selection.unreadable
            unreadable.warn()
            if selection.count == 0 { return try tell(action, BulkAction.Tally(), unreadable) }
            guard yes || Confirmation.ask("\(action.title) \(selection.count.counted("job"))?") else {
                throw CommandFailure("nothing was \(action.past); --yes skips the question", ExitStatus.unsuccessful)
            }
            var bar = ProgressBar(total: Int64(selection.count))
            let tally = await action.run(selection, on: broker) { bar.update(Int64($0), $0.counted("job")) }
            bar.hide()
            try tell(action, tally, unreadable)
        }
    }

    private func check(_ action: BulkAction) throws(CommandFailure) {
        if filter.worker != nil, !action.states.contains(.running) {
            throw CommandFailure("--worker selects running jobs, which cannot be \(action.past)", ExitStatus.usage)
        }
        guard let state = filter.states.first(where: { !action.states.contains($0) }) else { return }
        let states = action.states.map(\.rawValue).joined(separator: ", ")
        throw CommandFailure(
            "\(state.rawValue) jobs cannot be \(action.past); --state may be \(states)",
            ExitStatus.usage
        )
    }

    private func select(
        _ action: BulkAction,
        in queues: [String],
        _ broker: RedisBroker
    ) async throws -> JobSelection {
        let states = filter.states.isEmpty ? action.usualStates : filter.states
        let search = JobSearch(broker, in: queues, states, for: try await filter.filter(in: queues, of: broker))
        let end = SearchCursor(queue: "", state: .dead, position: 0)
        var bar = ProgressBar(total: try await search.extent(upTo: end).total.map { Int64($0) })
        defer { bar.hide() }
        return try await search.selectAll { looked, found in
            bar.update(Int64(looked), "\(found.grouped) of \(looked.counted("job"))")
        }
    }

    private func tell(
        _ action: BulkAction,
        _ tally: BulkAction.Tally,
        _ unreadable: [UnreadablePlace]
    ) throws(CommandFailure) {
        let outcomes = tally.outcomes.sorted { $0.key < $1.key }
        if options.json {
            let counts = outcomes.map { (key: $0.key, value: JSONOutput.count($0.value)) }
            let json: JSONOutput = [
                "done": .count(tally.done), "missed": .count(tally.missed + tally.left), "verdicts": .object(counts),
            ]
            StandardOutput.write(json.bytes)
        } else {
            let counts = outcomes.map { "\($0.value.grouped) \(BulkAction.words(for: $0.key))" }
            StandardOutput.write(counts.isEmpty ? "no such jobs" : counts.joined(separator: ", "))
        }
        tally.unchanged.warn()
        if let failure = failure(action, tally, unreadable) { throw failure }
    }

    private func failure(
        _ action: BulkAction,
        _ tally: BulkAction.Tally,
        _ unreadable: [UnreadablePlace]
    ) -> CommandFailure? {
        if let failure = tally.outage.map(CommandFailure.init) {
            let perhaps = tally.outcomes["unknown"] == nil ? "" : "perhaps "
            return CommandFailure(
                "\(tally.left.counted("job")) \(perhaps)not \(action.past), because the broker failed: \(failure.message)",
                failure.status
            )
        }
        let places = (unreadable + tally.unchanged).failure("the other jobs were searched")
        let notDone = tally.missed + tally.left
        guard notDone > 0 else { return places }
        return CommandFailure(
            "\(notDone.counted("job")) not \(action.past)" + (places.map { ": \($0.message)" } ?? ""),
            tally.missed > 0 ? ExitStatus.unsuccessful : places?.status ?? ExitStatus.unsuccessful
        )
    }
}

/// The command `errand jobs retry`.
struct JobsRetryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry",
        abstract: "Retries dead jobs with fresh attempts, or makes scheduled and retrying jobs ready now.",
        discussion: """
            It counts the matching jobs and asks for confirmation; --yes skips the question. Jobs whose \
            name another job now holds stay dead. With --state scheduled or --state retrying it makes those jobs ready.

            Example:
              errand jobs retry --queue images --error "connection refused" --since 2h
              errand jobs retry --queue images --state retrying
            """
    )

    @OptionGroup var bulk: BulkOptions

    func run() async throws { try await bulk.perform(.retry) }
}

/// The command `errand jobs cancel`.
struct JobsCancelCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel",
        abstract: "Cancels jobs: waiting jobs end at once, and running jobs are told to stop.",
        discussion: """
            It counts the matching jobs and asks for confirmation; --yes skips the question.

            Example:
              errand jobs cancel --operation thumbnail --state ready --state scheduled
            """
    )

    @OptionGroup var bulk: BulkOptions

    func run() async throws { try await bulk.perform(.cancel) }
}

/// The command `errand jobs delete`.
struct JobsDeleteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Deletes jobs; without --state, the dead ones.",
        discussion: """
            It counts the matching jobs and asks for confirmation; --yes skips the question. Running jobs must be cancelled \
            first.

            Example:
              errand jobs delete --state dead --until 30d --yes
            """
    )

    @OptionGroup var bulk: BulkOptions

    func run() async throws { try await bulk.perform(.delete) }
}
