import Errand

/// Producers, workers, an operator, a network and the broker in virtual time, all decided by one seed.
///
/// The broker is the queue that the in-memory one ships. Faults strike for a while; then they stop, and everything must
/// come to its end within bounded time.
package struct Simulation {
    static let lease: Time = 400
    static let start: Time = 1_700_000_000_000
    static let faultsEnd: Time = start + 8000
    static let patience: Time = 60_000
    static let workerCount = 3
    static let jobCount = 18
    static let poison = "op1"
    static let operations = [
        "op0": OperationDefaults(timeout: .milliseconds(200), retries: 1),
        poison: OperationDefaults(timeout: .milliseconds(200), retries: 0),
    ]

    /// What a seed came to.
    package struct Outcome: Sendable {
        package var broken: String?
        package var actions = 0
        /// How often the rare things happened.
        package var sometimes: [String: Int] = [:]
        /// How long after the last fault everything had ended.
        package var drainedAfter: Time = 0
    }

    let universe: Universe
    /// Whether jobs have groups, and the queue has rules: in every second seed.
    let usesGroups: Bool
    /// Whether some jobs are pushed in workflows: in every third seed.
    let usesWorkflows: Bool
    var numbers: SeededNumbers
    var now = Simulation.start
    private let clockStart = ContinuousClock.now
    /// The broker's clock may jump.
    var clockOffset: Time = 0
    var agenda = Agenda()
    var world = JudgedQueue()
    var workers: [SimulatedWorker]
    var nextSession = 0
    var nextJob = 0
    var nextWorkflow = 0
    /// The workflow that is being pushed.
    var pushedWorkflow: PushedWorkflow?
    /// Every job that the producer has made, by its id: what workers read in its body.
    var made: [String: Push] = [:]
    var unanswered: [JobEnvelope] = []
    var brokerIsDownUntil: Time = 0
    var snapshots: [Snapshot] = []
    var outcome = Outcome()

    struct Snapshot {
        let queue: MemoryQueue
        let accepted: Set<String>
        let finished: Set<String>
        let outage: Outage
        let flow: FlowRecord?
        let pushedWorkflow: PushedWorkflow?
    }

    package init(seed: UInt64) {
        numbers = SeededNumbers(seed: seed)
        universe = Universe()
        usesGroups = seed.isMultiple(of: 2)
        usesWorkflows = seed.isMultiple(of: 3)
        workers = (0..<Self.workerCount).map { SimulatedWorker(index: $0) }
    }

    /// The time of the workers' own clocks.
    var instant: ContinuousClock.Instant { clockStart + .milliseconds(now - Self.start) }
    var faultsStrike: Bool { now < Self.faultsEnd }
    mutating func note(_ what: String) { outcome.sometimes[what, default: 0] += 1 }

    /// Plays the seed to its end.
    package mutating func run() throws -> Outcome {
        setFirstRules()
        agenda.add(.produce, at: now)
        agenda.add(.fault, at: now + 200)
        agenda.add(.operate, at: now + 300)
        agenda.add(.snapshot, at: now)
        for index in workers.indices { agenda.add(.wake(index, workers[index].life), at: now + Time(index * 10)) }
        while let (time, event) = agenda.next() {
            if faultsStrike, time >= Self.faultsEnd { stopFaults() }
            now = max(now, time)
            try happen(event)
            if outcome.broken != nil { break }
            if !faultsStrike, isDrained {
                outcome.drainedAfter = now - Self.faultsEnd
                outcome.broken = restOfGroups ?? restOfWorkflows
                break
            }
            if now > Self.faultsEnd + Self.patience {
                outcome.broken =
                    "L1: not drained \(Self.patience) ms after the last fault: \(world.queue.jobs) \(world.queue.sessions)"
                    + " \(pushedWorkflow?.steps ?? []) \(world.queue.workflows)"
                break
            }
        }
        return outcome
    }

    private var isDrained: Bool {
        nextJob >= Self.jobCount && unanswered.isEmpty && pushedWorkflow == nil
            && world.queue.jobs.values.allSatisfy(\.isDead) && deadHoldingUpWorkflows.isEmpty
            && world.queue.readyLists.isEmpty && world.queue.holders.isEmpty
    }

    private mutating func stopFaults() {
        now = Self.faultsEnd
        brokerIsDownUntil = 0
        snapshots = []
        for index in workers.indices {
            workers[index].pausedUntil = now
            if !workers[index].isUp { restart(index) }
        }
        execute(.configure(QueueSettings(isPaused: false)))
        if usesGroups || usesWorkflows { agenda.add(.decideAboutDead, at: now) }
    }

    private mutating func happen(_ event: Agenda.Event) throws {
        switch event {
        case .produce: try produce()
        case .fault: strike()
        case .outage: loseBroker()
        case .operate: operate()
        case .snapshot: keepSnapshot()
        case .changeRule: changeRule()
        case .decideAboutDead: decideAboutDead()
        case .wake(let index, let life): if workers[index].life == life { try wake(index) }
        case .restart(let index): restart(index)
        case .request(let message): arrive(message)
        case .answer(let message, let answer): take(answer, message)
        case .wakeUp(let wakeUp, let index, let life): hear(wakeUp, index, life)
        case .pushAnswered(let id): unanswered.removeAll { $0.id == id }
        }
    }
}
