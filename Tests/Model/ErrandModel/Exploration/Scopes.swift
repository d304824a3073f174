extension Exploration {
    /// What is explored.
    package struct Scope: Sendable {
        package var name: String
        var workers = 2
        var jobs = 2
        /// What the producer may want of each job.
        var kinds: [Push] = [.plain, .drop, .replace]
        var faults = World.Faults()
        var verbs: [Verb] = [.finished, .failed, .released]
        var workersLeave = false
        /// Whether workers crash only while they run something.
        var crashesStrikeRuns = false
        /// Whether pushes may answer the workers' next calls, as they do for workers of one queue.
        var workersAreHandedJobs = true
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
            var kinds: [ActionKind] = [.tick, .push, .register, .beat, .call]
            if workersAreHandedJobs { kinds += [.hear] }
            if faults.lost > 0 { kinds += [.pushLosingReceipt, .pushAgain, .sendAgain, .executeLosingAnswer] }
            if faults.crashes > 0 { kinds += [.crash, .recover] }
            if faults.pauses > 0 { kinds += [.pause, .resume, .recover] }
            if faults.rollbacks > 0 { kinds += [.save, .rollBack, .reconcile] }
            if faults.leaps > 0 { kinds += [.leap] }
            if faults.cancels > 0 { kinds += [.cancel] }
            if faults.revivals > 0 { kinds += [.retry] }
            if workersLeave { kinds += [.leave] }
            if faults.lost + faults.crashes + faults.pauses > 0 { kinds += [.execute] }
            if verbs.contains(.failed) { kinds += [.promote] }
            return kinds
        }
    }
}

extension Push {
    /// A job without a name, tried once more when it fails.
    static let plain = kind(.ignore)
    static let drop = kind(.drop)
    static let replace = kind(.replace)
    static let dropUntilStarted = untilStarted(.drop)
    static let replaceUntilStarted = untilStarted(.replace)
    /// A replacement that is due two ticks after its push.
    static let replaceLater = kind(.replace, due: 2 * World.tick)

    private static func untilStarted(_ policy: Policy) -> Push {
        var push = kind(policy)
        push.isUniqueUntilStarted = true
        return push
    }

    private static func kind(_ policy: Policy, due: Time = 0) -> Push {
        var push = Push(id: 0)
        push.policy = policy
        push.name = policy == .ignore ? nil : 0
        push.due = due
        push.retries = 1
        return push
    }
}
