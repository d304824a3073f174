import Errand

/// The scopes that together cover the small scope: each bound of it is reached in one of them, and the faults meet in pairs, but for
/// leaps of the clock, which meet pauses only.
extension Exploration.Scope {
    package static var all: [Self] { quick + full + groups + workflows }

    /// What takes seconds.
    private static var quick: [Self] {
        [
            Self("2 workers, 2 ids, no fault") {
                $0.isQuick = true
                $0.mustReach = names.union([
                    .claimed, .retried, .died, .overdue, .staleReport, .lostClaim, .handedOver, .isPreanswered,
                ])
            },
            Self("1 worker, 2 ids, 2 lost messages") {
                $0.workers = 1
                $0.faults.lost = 2
                $0.isQuick = true
                $0.mustReach = names.union([.exists, .resent, .heldBack, .handedOver, .isPreanswered])
            },
            Self("1 worker, 2 ids, 1 crash") {
                $0.workers = 1
                $0.faults.crashes = 1
                $0.isQuick = true
                $0.mustReach = names.union([.grace, .recovered, .handedOver])
            },
            Self("2 workers, 1 id, 1 pause") {
                $0.jobs = 1
                $0.faults.pauses = 1
                $0.isQuick = true
                $0.mustReach = [.grace, .recovered, .overdue, .staleReport, .sessionLost]
            },
            Self("2 workers, 1 id, 1 rollback") {
                $0.jobs = 1
                $0.faults.rollbacks = 1
                $0.isQuick = true
                $0.mustReach = [.grace, .overdue, .released, .lostClaim, .sessionLost]
            },
            Self("1 worker, 1 id, 1 leap, 2 pauses") {
                $0.workers = 1
                $0.jobs = 1
                $0.faults.leaps = 1
                $0.faults.pauses = 2
                $0.isQuick = true
                $0.mustReach = [.grace, .recovered, .overdue]
            },
            Self("1 worker, 1 id, 2 leaps") {
                $0.workers = 1
                $0.jobs = 1
                $0.faults.leaps = 2
                $0.isQuick = true
                $0.mustReach = [.grace, .overdue]
            },
            Self("1 worker, 2 ids, unique until started, 1 crash") {
                $0.workers = 1
                $0.kinds = [.dropUntilStarted, .replaceUntilStarted, .replace]
                $0.faults.crashes = 1
                $0.isQuick = true
                $0.mustReach = [.claimed, .retried, .died, .grace, .recovered]
            },
            Self("2 workers, 2 ids, due later, 1 cancel") {
                $0.kinds = [.drop, .replace, .replaceLater]
                $0.faults.cancels = 1
                $0.isQuick = true
                $0.mustReach = names.union([.promoted, .overdue])
            },
            Self("2 workers, 3 ids, due later, 1 cancel") {
                $0.jobs = 3
                $0.kinds = [.drop, .replace, .replaceLater]
                $0.faults.cancels = 1
                $0.isQuick = true
                $0.mustReach = names.union([.promoted, .overdue, .supplanted])
            },
            Self("1 worker, 1 id, 7 crashes in its runs, nothing handed over") {
                $0.workersAreHandedJobs = false
                $0.workers = 1
                $0.jobs = 1
                $0.kinds = [.plain]
                $0.verbs = [.finished]
                $0.faults.crashes = 7
                $0.crashesStrikeRuns = true
                $0.isQuick = true
                $0.mustReach = [.claimed, .recovered, .retried, .setAside]
            },
        ]
    }

    private static var full: [Self] {
        [
            Self("2 workers, 3 ids, no fault") {
                $0.jobs = 3
                $0.mustReach = names.union([.overdue, .supplanted])
            },
            Self("2 workers, 2 ids, 1 crash") {
                $0.faults.crashes = 1
                $0.mustReach = names.union([.recovered, .grace])
            },
            Self("2 workers, 2 ids, 1 pause") {
                $0.faults.pauses = 1
                $0.mustReach = names.union([.recovered, .grace, .overdue, .staleReport])
            },
            Self("2 workers, 2 ids, 1 lost message") {
                $0.faults.lost = 1
                $0.mustReach = names.union([.exists, .resent, .heldBack, .handedOver, .isPreanswered])
            },
            Self("2 workers, 1 id, 1 crash, 1 lost message") {
                $0.jobs = 1
                $0.faults.lost = 1
                $0.faults.crashes = 1
                $0.mustReach = [.exists, .resent, .heldBack, .recovered, .grace, .handedOver, .isPreanswered]
            },
            Self("2 workers, 1 id, 1 pause, 1 lost message") {
                $0.jobs = 1
                $0.faults.lost = 1
                $0.faults.pauses = 1
                $0.mustReach = [.exists, .resent, .heldBack, .recovered, .grace, .overdue, .handedOver, .isPreanswered]
            },
            Self("1 worker, 2 ids, 1 rollback, 1 lost message") {
                $0.workers = 1
                $0.faults.lost = 1
                $0.faults.rollbacks = 1
                $0.mustReach = names.union([.exists, .resent, .released, .lostClaim, .handedOver, .isPreanswered])
            },
            Self("1 worker, 2 ids, 1 crash, 1 lost message") {
                $0.workers = 1
                $0.faults.lost = 1
                $0.faults.crashes = 1
                $0.mustReach = names.union([.exists, .resent, .recovered, .grace, .handedOver, .isPreanswered])
            },
            Self("2 workers, 2 ids, 2 lost messages, nothing handed over") {
                $0.workersAreHandedJobs = false
                $0.faults.lost = 2
                $0.mustReach = names.union([.exists, .resent, .heldBack])
            },
            Self("2 workers, 1 id, 1 crash, 1 pause, 1 lost message, nothing handed over") {
                $0.workersAreHandedJobs = false
                $0.jobs = 1
                $0.faults.lost = 1
                $0.faults.crashes = 1
                $0.faults.pauses = 1
                $0.mustReach = [.exists, .resent, .heldBack, .recovered, .grace, .overdue, .staleReport]
            },
            Self("1 worker, 3 ids, 1 crash, 1 lost message, nothing handed over") {
                $0.workersAreHandedJobs = false
                $0.workers = 1
                $0.jobs = 3
                $0.faults.lost = 1
                $0.faults.crashes = 1
                $0.mustReach = names.union([.exists, .resent, .recovered, .grace])
            },
            Self("1 worker, 3 ids, 1 rollback") {
                $0.workers = 1
                $0.jobs = 3
                $0.faults.rollbacks = 1
                $0.mustReach = names.union([.released, .lostClaim])
            },
            Self("2 workers, 2 ids, 1 rollback, nothing handed over") {
                $0.workersAreHandedJobs = false
                $0.faults.rollbacks = 1
                $0.mustReach = names.union([.released, .lostClaim])
            },
            Self("2 workers, 1 id, 1 leap, 1 pause") {
                $0.jobs = 1
                $0.faults.leaps = 1
                $0.faults.pauses = 1
                $0.mustReach = [.grace, .recovered, .overdue]
            },
            Self("1 worker, 1 id, 1 lost message, 1 crash, 1 pause, 1 rollback, nothing handed over") {
                $0.workersAreHandedJobs = false
                $0.workers = 1
                $0.jobs = 1
                $0.faults.lost = 1
                $0.faults.crashes = 1
                $0.faults.pauses = 1
                $0.faults.rollbacks = 1
                $0.mustReach = [.exists, .resent, .heldBack, .recovered, .grace, .overdue, .released, .lostClaim]
            },
            Self("2 workers that may leave, 2 ids, 1 cancel, 1 revival") {
                $0.workersLeave = true
                $0.faults.cancels = 1
                $0.faults.revivals = 1
                $0.mustReach = names.union([.retriedByHand, .died])
            },
            Self("2 workers, 2 ids, every way for a run to end") {
                $0.verbs = [.finished, .timedOut, .snoozed, .unreadable, .unroutable]
                $0.mustReach = names.union([.retried, .died])
            },
            Self("2 workers, 2 ids, due later, 1 cancel, 1 crash") {
                $0.kinds = [.drop, .replace, .replaceLater]
                $0.faults.cancels = 1
                $0.faults.crashes = 1
                $0.mustReach = names.union([.promoted, .recovered, .grace])
            },
        ]
    }

    /// What comes about when jobs share a name.
    private static let names: Set<Witness> = [.claimed, .dropped, .replaced, .deferred, .toldToStop, .successor]
}
