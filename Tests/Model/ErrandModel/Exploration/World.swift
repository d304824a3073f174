import Errand

/// Everything in the small scope: the queue, the workers, a producer, what is on its way between them, and which faults
/// may still happen.
struct World: Sendable {
    static let tick: Time = 1000
    static let lease: Time = 2 * tick
    static let hardDeadline: Time = 4 * tick
    /// By how many ticks the clock jumps: by more than half a lease.
    static let leap: Time = 3

    var broker: SharedQueue
    /// The output of the last transition, while it is judged.
    var effects = MemoryEffects()
    /// The broker's clock.
    var now: Time = 1_000_000
    var workers: [Worker]
    /// Calls on their way to the broker, copies among them, which may be executed in any order.
    var requests: [Request] = []
    /// Hints on their way to workers, of jobs that pushes gave them. Any may be lost: then it is never heard.
    var hints: [GivenDispatch] = []
    /// How many jobs the producer has sent, which are their ids, and how many it has yet to send.
    var pushed = 0
    var unsent: Int
    /// Jobs whose receipts were lost: the producer pushes them again.
    var unanswered: [JobEnvelope] = []
    var faults: Faults
    var saved: Saved?
    var outage = Outage(lease: Self.lease)
    var sessionsMade = 0
    /// The newest token that was ever issued, whatever the broker has forgotten since.
    var greatestToken: Token = 0
    /// By how much the clock has jumped in all.
    var leapt: Time = 0
    /// When claims were made, had the clock never jumped.
    var claimTimes: [Token: Time] = [:]
    /// The last start of a job of the group, if its rate limits the next one.
    var lastStart: (id: String, token: Token, time: Time)?
    /// What came about in the last step.
    var witnesses = Witnesses()
    let rules: Rules

    struct Worker: Sendable {
        var isPaused = false
        var session: Session?
        var lastNumber = 0
        /// Whether it waits for the answer of its last call.
        var isAwaiting = false
        /// The runs it knows of, one at the most.
        var held: [Claim] = []
        /// The runs that it was told to stop.
        var stops: Set<String> = []
        /// A beat's answer counted other claims than it knows of.
        var mustReconcile = false
    }

    struct Request: Sendable {
        var worker: Int
        var call: Exchange
    }

    /// What the broker will have on its disk when it loses its newest data.
    struct Saved: Sendable {
        var broker: SharedQueue
        var outage: Outage
    }

    /// How many faults may still happen.
    package struct Faults: Hashable, Sendable {
        /// Answers that are lost, or calls that are sent twice.
        package var lost = 0
        package var crashes = 0
        package var pauses = 0
        package var rollbacks = 0
        /// Jumps of the broker's clock, back or forth, by three ticks.
        package var leaps = 0
        package var cancels = 0
        package var revivals = 0
        package var deletions = 0
        /// How often the workflow may be stopped.
        package var stops = 0

        package init() {}
    }

    /// What may happen in a scope apart from faults; all its worlds share it.
    final class Rules: Sendable {
        let scope: Exploration.Scope
        /// Of each kind, the jobs in the order of their ids.
        let envelopes: [[JobEnvelope]]
        /// Whether there is never a second job.
        let hasOneJob: Bool
        /// The kinds in the order in which they are tried. What becomes of the only job is the same for all of them, so
        /// only the first is followed: one with a name, because that is more to get wrong.
        let kinds: [Int]
        /// Whether the clock may jump, so that times of before and after cannot be compared.
        let clockLeaps: Bool

        init(_ scope: Exploration.Scope) throws {
            self.scope = scope
            envelopes = try scope.kinds.map { kind in
                try World.ids.prefix(scope.flow.count + scope.jobs).map { try kind.envelope(id: $0) }
            }
            hasOneJob = scope.flow.count + scope.jobs == 1
            kinds = hasOneJob ? scope.kinds.indices.reversed() : Array(scope.kinds.indices)
            clockLeaps = scope.faults.leaps > 0
        }
    }

    init(_ scope: Exploration.Scope) throws {
        workers = Array(repeating: Worker(), count: scope.workers)
        unsent = scope.jobs
        faults = scope.faults
        rules = try Rules(scope)
        var queue = MemoryQueue(name: "q")
        _ = queue.apply(.configure(QueueSettings(rememberIDsMilliseconds: 1_000_000_000)), at: now)
        if let rule = scope.rule { _ = queue.apply(.flow(Self.group, rule), at: now) }
        if !scope.flow.isEmpty { try Self.push(scope.flow, scope.onDead, to: &queue, at: now) }
        pushed = scope.flow.count
        broker = SharedQueue(queue)
    }

    static let operation = "op"
    static let group = "g"
    static let ids = (0..<8).map { "j\($0)" }
    private static let operations = [
        operation: OperationDefaults(timeout: .milliseconds(hardDeadline), retries: 1)
    ]

    /// A session; ids are of one length, so that their order is that of the numbers.
    static func session(_ number: Int) -> Session {
        Session(
            id: "session-\(10_000 + number)",
            host: "host",
            pid: 1,
            concurrency: 1,
            queues: [],
            lease: .milliseconds(lease),
            operations: operations
        )
    }
}
