import Errand

/// The scopes in which all jobs are of one group that has a rule. Jobs of groups are never dispatched directly.
extension Exploration.Scope {
    static var groups: [Self] {
        [
            limited("2 workers, 2 ids, 1 at once, 1 crash") { $0.faults.crashes = 1 },
            limited("2 workers, 3 ids, 1 at once, no fault") {
                $0.jobs = 3
                $0.isQuick = true
            },
            limited("2 workers, 2 ids, 1 at once, 1 pause") { $0.faults.pauses = 1 },
            limited("2 workers, 2 ids, 1 at once, 1 rollback") { $0.faults.rollbacks = 1 },
            limited("2 workers, 2 ids, 1 at once, 1 lost message") { $0.faults.lost = 1 },
            limited("2 workers, 2 ids of second parts, 1 at once, every way for a run to end") {
                $0.kinds = [.ofSecondPart]
                $0.verbs = [.finished, .timedOut, .snoozed, .unreadable, .unroutable, .released]
                $0.isQuick = true
            },
            limited("2 workers that may leave, 2 ids of second parts, 1 at once, 1 cancel, 1 revival") {
                $0.kinds = [.ofSecondPart]
                $0.workersLeave = true
                $0.faults.cancels = 1
                $0.faults.revivals = 1
            },
            limited("1 worker, 2 ids, 1 at once, 5 crashes in its runs") {
                $0.workers = 1
                $0.verbs = [.finished]
                $0.faults.crashes = 5
                $0.crashesStrikeRuns = true
                $0.mustReach.insert(.recovered)
            },
            ordered("2 workers, 3 ids in order, no fault") {
                $0.jobs = 3
                $0.isQuick = true
            },
            ordered("2 workers, 2 ids in order, 1 crash") { $0.faults.crashes = 1 },
            ordered("1 worker, 3 ids in order, 1 crash, 1 lost message") {
                $0.workers = 1
                $0.jobs = 3
                $0.faults.crashes = 1
                $0.faults.lost = 1
            },
            ordered("2 workers, 2 ids in order, 1 cancel, 1 revival") {
                $0.faults.cancels = 1
                $0.faults.revivals = 1
                $0.isQuick = true
            },
            ordered("2 workers, 3 ids in order but for the dead, every way for a run to end", .skipDead) {
                $0.jobs = 3
                $0.verbs = [.finished, .timedOut, .snoozed, .unreadable, .unroutable, .released]
                $0.isQuick = true
            },
            rated("2 workers, 2 ids at a rate, no fault") { $0.isQuick = true },
            rated("2 workers, 2 ids at a rate, 1 crash") { $0.faults.crashes = 1 },
            rated("1 worker, 3 ids at a rate, 1 pause") {
                $0.workers = 1
                $0.jobs = 3
                $0.faults.pauses = 1
            },
        ]
    }

    private static func limited(_ name: String, _ change: (inout Self) -> Void) -> Self {
        ruled(name, FlowRule(atOnce: 1), change)
    }

    private static func ordered(
        _ name: String,
        _ order: FlowOrder = .holdDead,
        _ change: (inout Self) -> Void
    ) -> Self {
        ruled(name, FlowRule(order: order), change)
    }

    private static func rated(_ name: String, _ change: (inout Self) -> Void) -> Self {
        ruled(name, FlowRule(rate: FlowRate(1, per: .milliseconds(World.rateInterval * World.tick))), change)
    }

    private static func ruled(_ name: String, _ rule: FlowRule, _ change: (inout Self) -> Void) -> Self {
        Self(name) {
            $0.rule = rule
            $0.kinds = [.grouped]
            $0.workersAreHandedJobs = false
            $0.mustReach = [.claimed, .groupHeldBack, .groupLetGo]
            change(&$0)
        }
    }
}
