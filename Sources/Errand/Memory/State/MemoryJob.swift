/// A job that has not ended for good, and everything the broker knows of it.
struct MemoryJob: Sendable {
    let id: String
    /// What it is called for uniqueness; `nil` for a job that opted out.
    let name: MemoryName?
    /// Whether it has started and let its name go.
    var isNameless = false
    let envelope: [UInt8]
    let header: MemoryHeader
    var readySince: Int64
    var place: Place
    /// Runs that failed or timed out.
    var failures = 0
    /// Workers that died with it begun, or may have, and those of them that held nothing else.
    var crashes = 0
    var crashesAlone = 0
    /// Whether a worker has died with it, begun or not.
    var hasComeBack = false
    /// What is kept of its runs that did not succeed.
    var errors = KeptErrors()
    /// How far it is, and what its next attempt is to know.
    var progress: JobProgress?
    var checkpoint: [UInt8]?
    /// Why its run is to stop.
    var stop: StopReason?
    /// The job that takes over its name when its claim has ended.
    var successor: Succession?

    /// Where a job is. It is in exactly one place.
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

    /// From this many crashes on, a job is handed out alone.
    static let crashesOfSuspect = 3

    /// The name that it holds, or waits for.
    var heldName: MemoryName? { isNameless ? nil : name }
    var isSuspect: Bool { crashes >= Self.crashesOfSuspect }
    var stored: [UInt8] {
        let digits = String(min(max(readySince, 0), 9_999_999_999_999))
        return Array(repeating: UInt8(ascii: "0"), count: 13 - digits.utf8.count) + digits.utf8 + envelope
    }
    /// The line it belongs in when its time has come.
    var line: LineName { isSuspect ? .suspects : .ready(header.priority) }
}

/// The lines of a queue.
enum LineName: Sendable, Hashable {
    case ready(Int)
    case suspects
    /// Jobs of which no session knew the operation.
    case parked(operation: String, priority: Int)
}

/// A name for uniqueness: names are the same when their bytes are, unlike Swift's strings.
struct MemoryName: Sendable, Hashable {
    let bytes: [UInt8]

    init(_ text: String) { bytes = Array(text.utf8) }
}
