import ArgumentParser
import Errand
import ErrandCommandLine
import ErrandOperator
import ErrandText

/// The options of one job other than its operation and arguments.
struct PolicyOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The queue (default: default).", valueName: "queue"))
    var queue: String?

    @Option(help: ArgumentHelp("The name for uniqueness; by default operation and arguments.", valueName: "name"))
    var name: String?

    @Option(help: "What happens if another job has the name.")
    var unique: UniquenessPolicy?

    @Option(help: "How long the job holds its name: until it has finished, or until it is first started.")
    var uniqueUntil: UniqueUntil?

    @Option(
        help: ArgumentHelp("The window of --unique throttle and --unique debounce.", valueName: "duration"),
        transform: { try DurationText.parse($0) }
    )
    var window: Duration?

    @Option(
        help: ArgumentHelp("How long a debounced job waits at most while newer ones come.", valueName: "duration"),
        transform: { try DurationText.parse($0) }
    )
    var atMost: Duration?

    @Option(
        help: ArgumentHelp("How long a run may take: 250ms, 10s, 5m, 2h, 1d.", valueName: "duration"),
        transform: { try DurationText.parse($0) }
    )
    var timeout: Duration?

    @Option(
        help: ArgumentHelp("Run the job after this delay, by the broker's clock.", valueName: "duration"),
        transform: { try DurationText.parse($0) }
    )
    var delay: Duration?

    @Option(
        help: ArgumentHelp("Run the job at this time or later: 2026-11-21T10:00:00Z.", valueName: "iso8601"),
        transform: { try Timestamp.parse($0) }
    )
    var at: Int64?

    @Option(
        help: ArgumentHelp("End the job as expired if no worker has claimed it by then.", valueName: "duration"),
        transform: { try DurationText.parse($0) }
    )
    var expires: Duration?

    @Option(help: ArgumentHelp("How often a failed run is retried, 0 to 1000.", valueName: "n"))
    var retries: Int?

    @Option(help: BackoffArgument.help, transform: { try BackoffArgument(parsing: $0) })
    var backoff: BackoffArgument?

    @Option(help: ArgumentHelp("0 to 9, 9 first (default: 5).", valueName: "n"))
    var priority: Int?

    @Option(help: ArgumentHelp("The group, such as tenant-7 or tenant-7/user-3.", valueName: "group"))
    var group: String?

    @Option(
        help: ArgumentHelp("What the job is charged in its group's share, 1 to 1000000 (default: 1).", valueName: "n")
    )
    var cost: Int?

    @Option(
        help: ArgumentHelp(
            "The job's id; pushing the same id again within a minute of its end adds no second job.",
            valueName: "id"
        )
    )
    var id: String?

    @Option(
        name: .customLong("tag"),
        help: ArgumentHelp("A word by which the job can be found; may be given up to 8 times.", valueName: "tag")
    )
    var tags: [String] = []

    func validate() throws {
        if delay != nil, at != nil { throw ValidationError("--delay and --at exclude each other") }
    }

    /// Rejects windows of another policy than theirs.
    ///
    /// - Parameter mayBeElsewhere: Whether a policy that is not among the options may be in a catalogue.
    func checkWindows(mayBeElsewhere: Bool) throws {
        let unique = unique ?? (mayBeElsewhere ? nil : .ignore)
        if window != nil, let unique, !unique.hasWindow {
            throw ValidationError("--window goes with --unique throttle and --unique debounce")
        }
        if atMost != nil, let unique, unique != .debounce {
            throw ValidationError("--at-most goes with --unique debounce")
        }
    }

    /// Rejects times beside a policy that sets them itself.
    func checkTimes(for unique: UniquenessPolicy) throws(CommandFailure) {
        guard unique == .debounce, delay != nil || at != nil else { return }
        throw CommandFailure(
            "--delay and --at cannot be used with --unique debounce: the window decides when the job runs",
            ExitStatus.badInput
        )
    }

    /// Whether only options are set that a workflow has.
    var fitsWorkflow: Bool {
        var others = self
        (others.queue, others.unique, others.id) = (nil, nil, nil)
        return others.isEmpty
    }

    /// Whether no option is set.
    var isEmpty: Bool {
        let texts = [queue, name, id, group].allSatisfy { $0 == nil }
        let numbers = retries == nil && cost == nil && backoff == nil && priority == nil && at == nil
        return texts && tags.isEmpty && numbers && unique == nil && uniqueUntil == nil && timeout == nil && delay == nil
            && window == nil && atMost == nil && expires == nil
    }
}

/// The time to wait for a job's end.
enum WaitLimit: Sendable {
    case forever
    case atMost(Duration)

    init(parsing argument: String) throws {
        if argument == ArgumentSpelling.forever {
            self = .forever
        } else if !argument.isEmpty, argument.allSatisfy({ $0.isASCII && $0.isNumber }) {
            throw ValidationError("--wait \(argument) has no unit; write --wait \(argument)s")
        } else {
            self = .atMost(try DurationText.parse(argument))
        }
    }

    /// The longest wait; `nil` for no limit.
    var duration: Duration? { if case .atMost(let duration) = self { duration } else { nil } }
}
