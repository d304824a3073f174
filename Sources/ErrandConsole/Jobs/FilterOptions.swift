import ArgumentParser
import Errand
import ErrandCommandLine
import ErrandOperator
import ErrandRedis
import Foundation

/// The options that filter jobs.
struct FilterOptions: ParsableArguments {
    @OptionGroup var queues: QueueOptions

    @Option(name: .customLong("state"), help: "Only jobs in this state; may be given several times.")
    var states: [JobState] = []

    @Option(help: ArgumentHelp("Only jobs of this operation.", valueName: "operation"))
    var operation: String?

    @Option(help: ArgumentHelp("Only jobs with this name.", valueName: "name"))
    var name: String?

    @Option(help: ArgumentHelp("Only jobs whose name contains this text.", valueName: "text"))
    var nameContains: String?

    @Option(help: ArgumentHelp("Only jobs whose last error contains this text.", valueName: "text"))
    var error: String?

    @Option(help: ArgumentHelp("Only jobs with this error, as jobs --by-error prints it.", valueName: "pattern"))
    var errorLike: String?

    @Option(help: ArgumentHelp("Only jobs with this tag.", valueName: "tag"))
    var tag: String?

    @Option(
        help: ArgumentHelp("Only jobs from this time on, or from this long ago on.", valueName: "iso8601|d"),
        transform: { try TimeOrAge(parsing: $0) }
    )
    var since: TimeOrAge?

    @Option(
        help: ArgumentHelp("Only jobs from before this time, or from longer ago.", valueName: "iso8601|d"),
        transform: { try TimeOrAge(parsing: $0) }
    )
    var until: TimeOrAge?

    @Option(help: ArgumentHelp("Only jobs that this worker runs; errand status prints its id.", valueName: "id"))
    var worker: String?

    func validate() throws {
        // An unset variable of a script leaves an empty text. It must match nothing, not every job.
        for (option, text) in [
            ("--error", error), ("--error-like", errorLike), ("--name-contains", nameContains), ("--tag", tag),
        ] where text?.isEmpty == true {
            throw ValidationError("\(option) is empty; give it a text, or leave it out")
        }
        guard worker != nil, let state = states.first(where: { $0 != .running }) else { return }
        throw ValidationError("--worker selects running jobs; leave --state \(state.rawValue) out")
    }

    /// Makes the filter.
    ///
    /// - Parameters:
    ///   - queues: The queues that are searched.
    ///   - broker: The broker, which knows the ids of workers.
    ///   - now: The time from which ages are subtracted, in milliseconds since 1970 UTC.
    func filter(
        in queues: [String],
        of broker: RedisBroker,
        now: Int64 = Int64(Date().timeIntervalSince1970 * 1000)
    ) async throws -> JobFilter {
        let worker = if let worker { try await WorkerIDs.whole(worker, in: queues, of: broker) } else { String?.none }
        return JobFilter(
            operation: operation,
            name: name,
            nameContains: nameContains,
            errorContains: error,
            errorPattern: errorLike,
            tag: tag,
            from: since?.milliseconds(before: now),
            until: until?.milliseconds(before: now),
            worker: worker
        )
    }
}

extension TimeOrAge {
    /// Parses an argument.
    ///
    /// - Throws: `ValidationError` if it is neither a time nor an age.
    fileprivate init(parsing argument: String) throws {
        guard let value = TimeOrAge(argument) else {
            throw ValidationError(
                "\"\(argument)\" is neither an age, such as 2h, nor a time, such as 2026-11-21T10:00:00Z"
            )
        }
        self = value
    }
}
