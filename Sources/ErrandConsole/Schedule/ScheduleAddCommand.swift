import ArgumentParser
import Errand
import ErrandCommandLine
import ErrandOperator
import ErrandRedis
import ErrandText

/// The options for the timing of a schedule.
struct TimingOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("A cron expression of five fields, or six with the second first.", valueName: "expression")
    )
    var cron: String?

    @Option(help: ArgumentHelp("The cron expression's time zone; UTC by default.", valueName: "zone"))
    var timeZone: String?

    @Option(
        help: ArgumentHelp("Instead of --cron: the interval, at least 1s.", valueName: "duration"),
        transform: { try DurationArgument(parsing: $0) }
    )
    var every: DurationArgument?

    /// Makes the timing; `nil` without options.
    ///
    /// - Throws: `ValidationError` if the options are not valid.
    func timing() throws -> ScheduleTiming? {
        if cron != nil, every != nil { throw ValidationError("--cron and --every exclude each other") }
        if timeZone != nil, cron == nil { throw ValidationError("--time-zone goes with --cron") }
        do throws(ScheduleError) {
            if let cron { return try .cron(cron, timeZone: timeZone ?? "UTC") }
            return try every.map { every throws(ScheduleError) in try .every(every.duration) }
        } catch {
            throw ValidationError(error.description)
        }
    }
}

/// The command `errand schedule add`.
struct ScheduleAddCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Adds a schedule, or changes the schedule with that name.",
        discussion: """
            By default its revision is that of the schedule that it changes, or higher than that of a deleted one. A program \
            or catalogue that declares the schedule with the same revision leaves it as it is, and one with a higher revision \
            replaces it.

            The queue must exist; errand queue create makes one.

            Examples:
              errand schedule add nightly report '{"kind":"sales"}' --cron "30 2 * * *" \\
                --time-zone Europe/Berlin
              errand schedule add pulse ping --every 10s --overlap skip --catch-up none
            """
    )

    @Argument(help: ArgumentHelp("The schedule.", valueName: "name"))
    var name: String

    @Argument(help: "The operation that is pushed at each tick.")
    var operation: String

    @Argument(help: ArgumentHelp("The operation's arguments, as JSON.", valueName: "arguments"))
    var arguments = "{}"

    @OptionGroup var timing: TimingOptions
    @OptionGroup var place: ScheduleQueueOptions

    @Option(help: "Which missed ticks are pushed: none, latest or all.")
    var catchUp = "latest"

    @Option(help: ArgumentHelp("With --catch-up all: the largest number of ticks, 1 to 1000.", valueName: "n"))
    var catchUpLimit: Int?

    @Option(help: "What happens if an earlier tick's job has not ended.")
    var overlap = Schedule.Overlap.allow

    @Option(help: ArgumentHelp("The jobs' name for uniqueness.", valueName: "name"))
    var jobName: String?

    @Option(help: "The jobs' uniqueness policy.")
    var unique: UniquenessPolicy?

    @Option(
        help: ArgumentHelp("How long a run may take.", valueName: "duration"),
        transform: { try DurationArgument(parsing: $0) }
    )
    var timeout: DurationArgument?

    @Option(
        help: ArgumentHelp("When a job expires unless a worker has claimed it.", valueName: "duration"),
        transform: { try DurationArgument(parsing: $0) }
    )
    var expires: DurationArgument?

    @Option(help: "How often a failed run is retried.")
    var retries: Int?

    @Option(help: BackoffArgument.help, transform: { try BackoffArgument(parsing: $0) })
    var backoff: BackoffArgument?

    @Option(help: "The jobs' priority, 0 to 9, 9 first.")
    var priority: Int?

    @Option(help: ArgumentHelp("The jobs' group.", valueName: "group"))
    var group: String?

    @Option(help: ArgumentHelp("What a job is charged in its group's share, 1 to 1000000.", valueName: "n"))
    var cost: Int?

    @Option(help: "The definition's revision.")
    var revision: Int?

    func validate() throws {
        try ScheduleRule.check(name)
        guard try timing.timing() != nil else { throw ValidationError("--cron or --every is required") }
        if unique?.hasWindow == true {
            throw ValidationError(
                "--unique throttle and debounce need a window, which this command cannot set; use a catalogue's schedule"
            )
        }
        _ = try schedule(revision: revision ?? 0)
    }

    func run() async throws {
        try await place.options.withBroker { broker in
            try await broker.checkExists(place.queue)
            let edit = ScheduleEdit(name, on: place.queue, in: broker)
            let outcome = try await edit.put(revision: revision) { try schedule(revision: $0) }
            if case .outdated(let stored) = outcome {
                throw CommandFailure(
                    "the stored revision is \(stored), which is higher; use --revision \(stored + 1)",
                    ExitStatus.unsuccessful
                )
            }
            let json: JSONOutput = [
                "name": .text(name), "queue": .text(place.queue), "verdict": .text("\(outcome)"),
            ]
            StandardOutput.write(place.options.json ? json.bytes : Array("\(name) of \(place.queue) \(outcome)".utf8))
        }
    }

    private func schedule(revision: Int) throws -> Schedule {
        do {
            guard let timing = try timing.timing() else { throw ValidationError("--cron or --every is required") }
            return try Schedule(
                name,
                timing,
                pushing: try template(),
                catchUp: try Schedule.CatchUp(word: catchUp, limit: catchUpLimit),
                overlap: overlap,
                revision: revision
            )
        } catch let error as ScheduleError {
            throw ValidationError(Self.names.explanation(of: error))
        } catch let error as DescriptionError {
            throw ValidationError(Self.names.explanation(of: error))
        }
    }

    private static let names = ValueNames.options.replacing(["name": "--job-name"])

    private func argumentsText() throws -> JSONText {
        let text = Array(TextEncoding.withoutMark(arguments).utf8)
        do { return try JSONText(validating: text) } catch {
            throw ValidationError(error.explanation(inArguments: text))
        }
    }

    private func template() throws -> OperationDescription {
        try OperationDescription(
            operation,
            arguments: try argumentsText(),
            queue: place.queue,
            name: jobName,
            unique: unique,
            timeout: timeout?.duration,
            expiresIn: expires?.duration,
            retries: retries,
            backoff: backoff?.delays,
            priority: priority,
            group: group,
            cost: cost
        )
    }
}
