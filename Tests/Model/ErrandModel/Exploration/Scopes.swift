import Errand

extension Exploration {
    /// What is explored.
    package struct Scope: Sendable {
        package var name: String
        var workers = 2
        var jobs = 2
        /// What the producer may want of each job.
        var kinds: [JobKind] = [.plain, .drop, .replace]
        var faults = World.Faults()
        var verbs: [OutcomeReport.Verb] = [.finished, .failed, .released]
        var workersLeave = false
        /// Whether workers crash only while they run something.
        var crashesStrikeRuns = false
        /// Whether pushes may answer the workers' next calls, as they do for workers of one queue.
        var workersAreHandedJobs = true
        /// The rule for the group of the jobs that are in one.
        var rule: FlowRule?
        /// The jobs of a workflow that is pushed before anything else happens; their ids come first.
        var flow: [FlowJob] = []
        var onDead = DeadMemberPolicy.hold
        /// What must come about in it, beside each action of its own.
        var mustReach: Set<Witness> = [.claimed]
        /// Whether it is one of the few that take seconds.
        package var isQuick = false

        init(_ name: String, _ change: (inout Self) -> Void) {
            self.name = name
            change(&self)
        }

        /// The actions that must occur.
        var mustTake: [ActionKind] {
            var kinds: [ActionKind] = [.tick, .register, .beat, .call]
            if jobs > 0 { kinds += [.push] }
            if workersAreHandedJobs { kinds += [.hear] }
            if faults.lost > 0 { kinds += [.sendAgain, .executeLosingAnswer] }
            if faults.lost > 0, jobs > 0 { kinds += [.pushLosingReceipt, .pushAgain] }
            if faults.crashes > 0 { kinds += [.crash, .recover] }
            if faults.pauses > 0 { kinds += [.pause, .resume, .recover] }
            if faults.rollbacks > 0 { kinds += [.save, .rollBack, .reconcile] }
            if faults.leaps > 0 { kinds += [.leap] }
            if faults.cancels > 0 { kinds += [.cancel] }
            if faults.revivals > 0 { kinds += [.retry] }
            if faults.deletions > 0 { kinds += [.delete] }
            if faults.stops > 0 { kinds += [.stop] }
            if workersLeave { kinds += [.leave] }
            if faults.lost + faults.crashes + faults.pauses > 0 { kinds += [.execute] }
            if verbs.contains(.failed) { kinds += [.promote] }
            return kinds
        }
    }
}

/// What a producer may want of a job.
struct JobKind: Sendable {
    var policy = UniquenessPolicy.ignore
    var isUniqueUntilStarted = false
    /// How long after its push it is due.
    var delay: Time = 0
    var group: String?
    var expiresIn: Time?

    /// A job without a name, tried once more when it fails.
    static let plain = Self()
    static let drop = Self(policy: .drop)
    static let replace = Self(policy: .replace)
    static let dropUntilStarted = Self(policy: .drop, isUniqueUntilStarted: true)
    static let replaceUntilStarted = Self(policy: .replace, isUniqueUntilStarted: true)
    /// A replacement that is due two ticks after its push.
    static let replaceLater = Self(policy: .replace, delay: 2 * World.tick)

    /// A job of a group.
    static let grouped = Self(group: World.group)
    /// A job of a second part of that group.
    static let ofSecondPart = Self(group: World.group + "/part")

    /// A job that expires after a tick.
    static let shortLived = Self(expiresIn: World.tick)

    func envelope(id: String) throws -> JobEnvelope {
        try OperationDescription(
            World.operation,
            name: policy == .ignore ? nil : "name",
            unique: policy,
            uniqueUntil: isUniqueUntilStarted ? .started : nil,
            expiresIn: expiresIn.map { .milliseconds($0) },
            retries: 1,
            group: group,
            id: id
        ).makeEnvelope()
    }
}

/// A job of the workflow of a scope.
struct FlowJob: Sendable {
    var kind = JobKind.plain
    var after: [Int] = []
    var when = WorkflowCondition.success
}
