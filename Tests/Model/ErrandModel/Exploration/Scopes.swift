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
            if faults.lost > 0 { kinds += [.pushLosingReceipt, .pushAgain, .sendAgain, .executeLosingAnswer] }
            if faults.crashes > 0 { kinds += [.crash, .recover] }
            if faults.pauses > 0 { kinds += [.pause, .resume, .recover] }
            if faults.rollbacks > 0 { kinds += [.save, .rollBack, .reconcile] }
            if faults.leaps > 0 { kinds += [.leap] }
            if faults.cancels > 0 { kinds += [.cancel] }
            if faults.revivals > 0 { kinds += [.revive] }
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
    /// A replacement that is due two ticks after its push.
    static let replaceLater = kind(.replace, due: 2 * World.tick)

    private static func kind(_ policy: Policy, due: Time = 0) -> Push {
        var push = Push(id: 0)
        push.policy = policy
        push.name = policy == .ignore ? nil : 0
        push.due = due
        push.retries = 1
        return push
    }
}

extension Exploration.Scope {
    /// The scopes that together cover the small scope.
    package static var all: [Self] {
        [
            Self("A1 2w 3ids") { $0.jobs = 3 },
            Self("A2 2w 2 crash") { $0.faults.crashes = 1 },
            Self("A3 2w 2 pause") { $0.faults.pauses = 1 },
            Self("A4 2w 2 lost2") { $0.faults.lost = 2 },
            Self("A5 2w 1 lost2 crash pause") { $0.jobs = 1; $0.faults.lost = 2; $0.faults.crashes = 1; $0.faults.pauses = 1 },
            Self("A6 1w 3 crash lost1") { $0.jobs = 3; $0.workers = 1;  $0.faults.crashes = 1; $0.faults.lost = 1 },
            Self("A7 1w 3 rollback") { $0.jobs = 3; $0.workers = 1;  $0.faults.rollbacks = 1 },
            Self("A8 2w 2 rollback") { $0.faults.rollbacks = 1 },
            Self("A9 2w 1 leap pause") { $0.faults.leaps = 1; $0.faults.pauses = 1; $0.jobs = 1 },
            Self("A9b 1w 1 leap pause2") { $0.faults.leaps = 1; $0.faults.pauses = 2; $0.jobs = 1; $0.workers = 1 },
            Self("A10 1w 1 all") { $0.jobs = 1; $0.workers = 1; $0.faults.lost = 2; $0.faults.crashes = 1; $0.faults.pauses = 1; $0.faults.rollbacks = 1 },
            Self("A11 2w 2 leave cancel revive") { $0.workersLeave = true; $0.faults.cancels = 1; $0.faults.revivals = 1 },
            Self("A12 2w 2 verbs") { $0.verbs = [.finished, .timedOut, .snoozed, .unreadable, .parked] },
            Self("A13 2w 2 later cancel crash") { $0.kinds = [.drop, .replace, .replaceLater]; $0.faults.cancels = 1; $0.faults.crashes = 1 },
            Self("A14 2w 3 later cancel") { $0.jobs = 3; $0.kinds = [.drop, .replace, .replaceLater]; $0.faults.cancels = 1 },
            Self("A15 2w 2 crash pause named") { $0.kinds = [.drop, .replace]; $0.faults.crashes = 1; $0.faults.pauses = 1 },
            Self("A16 2w 3 crash named") { $0.jobs = 3; $0.kinds = [.drop, .replace]; $0.faults.crashes = 1 },
        ]
    }
}
