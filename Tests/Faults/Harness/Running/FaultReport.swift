import Foundation

/// What came of a scenario.
struct FaultReport: Encodable, Sendable {
    /// The scenario.
    var scenario: String
    /// What happened in it, in words.
    var title: String
    /// How often the fault injected.
    var injected = 0
    /// Accepted jobs that neither were run to their end nor ended visibly otherwise.
    var lost = 0
    /// Runs of jobs that nobody pushed, of other arguments than were pushed, before their time, or after their end.
    var unexpected = 0
    /// Runs beyond the first of a job.
    var duplicates = 0
    /// Jobs that were left over, and keys without a job.
    var stuck = 0
    /// The longest time from the end of a fault until work went on, in milliseconds.
    var recoveryMilliseconds = 0
    /// Findings of the audit at the end.
    var audit = 0
    /// Whether the fault happened at all.
    var valid = false
    /// Whether everything held.
    var passed = false
    /// How often it was played.
    var attempts = 1
    /// Whether the server itself lost data here, so that losses are no failure.
    var serverLostData = false
    /// What did not hold.
    var problems: [String] = []
    /// What did not hold when it was played before.
    var earlierProblems: [String] = []
    /// Whether the books were compared in the end.
    var isCompared = false
    /// Whether something did not hold that no busy machine explains.
    var isWrong = false

    /// Whether it may be played again: all that did not hold is that something was late, or that the fault did not happen.
    var mayBeLate: Bool { isCompared && !isWrong }
    /// What repeats the run's random choices.
    var seed: UInt64 = 0
    /// How long it took.
    var seconds = 0.0

    enum CodingKeys: String, CodingKey {
        case scenario, title, injected, lost, unexpected, duplicates, stuck
        case recoveryMilliseconds = "recovery_ms"
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
