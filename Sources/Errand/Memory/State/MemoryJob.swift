/// A job that has not ended, with all of its data.
package struct MemoryJob: Sendable, Equatable {
    /// What was pushed.
    let push: MemoryPush
    /// When the job expires unless it is claimed; `nil` if it has been claimed, or does not expire.
    package var expires: Int64?
    /// Whether the job has started and no longer holds its name.
    package var isNameless = false
    package var readySince: Int64
    package var place: Place
    /// The number of runs that failed or timed out.
    package var failures = 0
    /// The number of workers that died with the job begun, or possibly begun, and of those that had no other job.
    package var crashes = 0
    package var soloCrashes = 0
    /// Whether a worker has died with the job, begun or not.
    package var hasComeBack = false
    /// The events of its unsuccessful runs.
    package var errors = KeptErrors()
    /// The last progress and checkpoint.
    var progress: JobProgress?
    var checkpoint: [UInt8]?
    /// When it is due, if it is debounced and has not started.
    package var debounce: MemoryDebounce?
    /// Why its run has to stop.
    package var stop: StopReason?
    /// The successor, which gets the job's name when its claim has ended.
    package var successor: String?

    /// The place of a job, which is always exactly one.
    package enum Place: Sendable, Equatable {
        case listed(ReadyListName)
        case scheduled
        case retrying
        case claimed(by: String)
        case deferred(behind: String)
        /// It waits for other jobs of its workflow.
        case blocked
        case dead
    }

    package enum StopReason: Sendable { case cancel, replace }

    /// The number of crashes from which on a job is quarantined.
    package static let crashesOfQuarantined = 3

    package var id: String { push.id }
    /// The job's unique name; `nil` if its policy takes none.
    package var name: MemoryName? { push.name }
    package var header: MemoryHeader { push.header }
    package var envelope: [UInt8] {
        // The time of a blocked job counts from when it comes free.
        guard header.expiresIn != nil, place != .blocked else { return push.envelope }
        return EnvelopeExpiry.replacing(in: push.envelope, with: expires.map { String($0) } ?? "")
    }
    /// The earliest time to run, as it was pushed or debounced; 0 if there is none.
    package var due: Int64 { debounce?.due ?? push.due }

    /// The name that the job holds or waits for.
    package var heldName: MemoryName? { isNameless ? nil : name }
    package var isQuarantined: Bool { crashes >= Self.crashesOfQuarantined }
    /// The time since which it is ready, in 13 digits, and the envelope.
    var stored: [UInt8] {
        var stored: [UInt8] = []
        stored.reserveCapacity(13 + envelope.count)
        var (rest, unit) = (min(max(readySince, 0), 9_999_999_999_999), Int64(1_000_000_000_000))
        while unit > 0 {
            stored.append(UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: rest / unit))
            (rest, unit) = (rest % unit, unit / 10)
        }
        stored += envelope
        return stored
    }
}

/// The times of a debounced job, in milliseconds since 1970 UTC.
package struct MemoryDebounce: Sendable, Equatable {
    let due: Int64
    /// The latest time to which newer jobs can postpone the run; `nil` for no limit.
    package let latest: Int64?
}

/// The ready lists of a queue.
package enum ReadyListName: Sendable, Hashable {
    case ready(Int)
    case quarantined
    /// Jobs of a group.
    case group(GroupName, priority: Int)
    /// Unroutable jobs: no session had the operation.
    case unroutable(operation: String, priority: Int)

    /// Whether its jobs are neither quarantined nor unroutable.
    var hasReadyJobs: Bool {
        switch self {
        case .ready, .group: true
        case .quarantined, .unroutable: false
        }
    }
}

/// A unique name. Names are compared by their bytes, unlike Swift's strings.
package struct MemoryName: Sendable, Hashable {
    package let bytes: [UInt8]

    package init(_ text: String) { bytes = Array(text.utf8) }
}
