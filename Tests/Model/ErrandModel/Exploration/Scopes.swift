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
            Self("T1 2w 2 ids, no fault") { _ in },
            Self("T2 2w 1 id crash pause") { $0.jobs = 1; $0.faults.crashes = 1; $0.faults.pauses = 1 },
            Self("T3 2w 2 ids crash") { $0.faults.crashes = 1 },
            Self("T4 2w 2 ids pause") { $0.faults.pauses = 1 },
            Self("T5 2w 2 ids lost 1") { $0.faults.lost = 1 },
            Self("T6 1w 2 ids lost 2") { $0.faults.lost = 2; $0.workers = 1 },
            Self("T7 1w 3 ids crash") { $0.faults.crashes = 1; $0.jobs = 3; $0.workers = 1 },
            Self("T8 1w 2 ids rollback") { $0.faults.rollbacks = 1; $0.workers = 1 },
            Self("T9 2w 1 ids rollback") { $0.faults.rollbacks = 1; $0.jobs = 1 },
            Self("T10 1w 1 id leap pause") { $0.faults.leaps = 1; $0.faults.pauses = 1; $0.jobs = 1; $0.workers = 1 },
            Self("T11 2w 1 id leap pause") { $0.faults.leaps = 1; $0.faults.pauses = 1; $0.jobs = 1 },
            Self("T12 1w 3 ids, no fault") { $0.jobs = 3; $0.workers = 1 },
            Self("T13 2w 3 ids, no fault") { $0.jobs = 3 },
            Self("T14 2w 2 ids, later, cancel") { $0.kinds = [.drop, .replace, .replaceLater]; $0.faults.cancels = 1 },
        ]
    }
}
