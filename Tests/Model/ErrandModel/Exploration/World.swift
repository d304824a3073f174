/// Everything in the small scope: the queue, two workers, a producer, what is on its way between them, and which faults
/// may still happen.
package struct World: Sendable {
    package static let tick: Time = 100
    static let lease: Time = 2 * tick
    static let hardDeadline: Time = 4 * tick

    package var queue = QueueModel()
    var now: Time = 1_000_000
    var workers = [Worker(), Worker()]
    /// Calls on their way to the broker; a copy that was sent again can be executed after a later call.
    var requests: [Request] = []
    var replies: [Reply] = []
    /// Jobs that the producer has not sent yet, and those whose answer it lacks.
    var unsent: [Push]
    var unanswered: [Push] = []
    var faults: Faults
    var saved: QueueModel?
    var ledger = Ledger()
    var sessionsMade = 0

    struct Worker: Hashable, Sendable {
        var isUp = true
        var isPaused = false
        var session: SessionID?
        var lastNumber = 0
        /// The call whose answer it awaits.
        var awaited: Call?
        var held: [GivenClaim] = []
        var stops: Set<JobID> = []
        var reports: [Report] = []
    }

    struct Request: Hashable, Sendable {
        var worker: Int
        var call: Call
    }

    struct Reply: Hashable, Sendable {
        var worker: Int
        var session: SessionID
        var number: Int
        var answer: Answer
    }

    /// How many faults may still happen.
    package struct Faults: Hashable, Sendable {
        package var lost = 0
        package var crashes = 0
        package var pauses = 0
        package var rollbacks = 0
        package var cancels = 0
        package var restarts = 0
        /// Registrations, of which every one leaves a session behind until it is recovered.
        package var registrations = 3

        package init() {}
    }

    /// What is known outside the broker, to judge it by.
    struct Ledger: Hashable, Sendable {
        var accepted: Set<JobID> = []
        var savedAccepted: Set<JobID> = []
        var newestToken: [JobID: Token] = [:]
        var finished: Set<JobID> = []
        var savedFinished: Set<JobID> = []
        var greatestToken: Token = 0
        var lastBeat: Time?
    }

    init(_ pushes: [Push], _ faults: Faults) {
        unsent = pushes
        self.faults = faults
        var settings = SettingsChange()
        settings.rememberIDs = 1_000_000_000
        _ = queue.apply(.configure(settings), at: now)
    }
}
