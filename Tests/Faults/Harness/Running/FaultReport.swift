import Foundation

/// The result of a scenario.
struct FaultReport: Encodable, Sendable {
    /// The scenario.
    var scenario: String
    /// Its description.
    var title: String
    /// The number of injections.
    var injected = 0
    /// Accepted jobs that neither reached their end nor ended visibly in another way.
    var lost = 0
    /// Runs of jobs that were not pushed, with other arguments, before their time, or after their end.
    var unexpected = 0
    /// Runs beyond the first of a job.
    var duplicates = 0
    /// Leftover jobs, and keys without a job.
    var stuck = 0
    /// The longest time from the end of a fault until work continued, in milliseconds.
    var recoveryMilliseconds = 0
    /// For each fault that may not interrupt work for long: the longest time without the start of a job, in milliseconds.
    var pauseMilliseconds: [Int]?
    /// Findings of the audit at the end.
    var audit = 0
    /// Whether the fault was injected at all.
    var valid = false
    /// Whether everything held.
    var passed = false
    /// The number of runs.
    var attempts = 1
    /// Whether the server itself lost data, so that losses are no failure.
    var serverLostData = false
    /// The problems.
    var problems: [String] = []
    /// The problems of the previous run.
    var earlierProblems: [String] = []
    /// Whether the accounts were compared at the end.
    var isCompared = false
    /// Whether there is a problem that a busy machine does not explain.
    var isWrong = false

    /// Whether it may be repeated: its only problems are delays or a missing injection.
    var mayBeLate: Bool { isCompared && !isWrong }
    /// The seed of the run's random choices.
    var seed: UInt64 = 0
    /// Its duration.
    var seconds = 0.0

    enum CodingKeys: String, CodingKey {
        case scenario, title, injected, lost, unexpected, duplicates, stuck
        case recoveryMilliseconds = "recovery_ms"
        case pauseMilliseconds = "pauses_ms"
        case audit, valid, passed, attempts
        case serverLostData = "server_lost_data"
        case problems
        case earlierProblems = "earlier_problems"
        case seed, seconds
    }

    /// One line of JSON.
    var line: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.withoutEscapingSlashes, .sortedKeys]
        guard let data = try? encoder.encode(self) else { return "{}" }
        return String(decoding: data, as: UTF8.self)
    }
}
