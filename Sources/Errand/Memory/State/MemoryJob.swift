/// A job that has not ended, with all of its data.
struct MemoryJob: Sendable {
    let id: String
    /// The job's unique name; `nil` if its policy is `ignore`.
    let name: MemoryName?
    /// Whether the job has started and no longer holds its name.
    var isNameless = false
    let envelope: [UInt8]
    let header: MemoryHeader
    var readySince: Int64
    var place: Place
    /// The number of runs that failed or timed out.
    var failures = 0
    /// The number of workers that died with the job begun, or possibly begun, and of those that had no other job.
    var crashes = 0
    var crashesAlone = 0
    /// Whether a worker has died with the job, begun or not.
    var hasComeBack = false
    /// The events of its unsuccessful runs.
    var errors = KeptErrors()
    /// The last progress and checkpoint.
    var progress: JobProgress?
    var checkpoint: [UInt8]?
    /// Why its run has to stop.
    var stop: StopReason?
    /// The successor, which gets the job's name when its claim has ended.
    var successor: Succession?

    /// The place of a job, which is always exactly one.
    enum Place: Sendable, Equatable {
        case line(LineName)
        case scheduled
        case retrying
        case claimed(by: String)
        case deferred(behind: String)
        case dead
    }

    enum StopReason: Sendable { case cancel, replace }

    struct Succession: Sendable {
        let id: String
        let due: Int64
    }

    /// The number of crashes from which on a job is quarantined.
    static let crashesOfSuspect = 3

    /// The name that the job holds or waits for.
    var heldName: MemoryName? { isNameless ? nil : name }
    var isSuspect: Bool { crashes >= Self.crashesOfSuspect }
    var stored: [UInt8] {
        let digits = String(min(max(readySince, 0), 9_999_999_999_999))
        return Array(repeating: UInt8(ascii: "0"), count: 13 - digits.utf8.count) + digits.utf8 + envelope
    }
    /// The ready list for the job.
    var line: LineName { isSuspect ? .suspects : .ready(header.priority) }
}

/// The ready lists of a queue.
enum LineName: Sendable, Hashable {
    case ready(Int)
    case suspects
    /// Unroutable jobs: no session had the operation.
    case parked(operation: String, priority: Int)
}

/// A unique name. Names are compared by their bytes, unlike Swift's strings.
struct MemoryName: Sendable, Hashable {
    let bytes: [UInt8]

    init(_ text: String) { bytes = Array(text.utf8) }
}
