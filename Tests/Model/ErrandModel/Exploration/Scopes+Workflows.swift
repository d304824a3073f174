import Errand

/// The scopes with a workflow of three jobs. Its jobs are never dispatched directly.
extension Exploration.Scope {
    static var workflows: [Self] {
        let chain = [FlowJob(), FlowJob(after: [0]), FlowJob(after: [1])]
        let join = [FlowJob(), FlowJob(), FlowJob(after: [0, 1])]
        let fork = [FlowJob(), FlowJob(after: [0], when: .anyEnd), FlowJob(after: [0], when: .failure)]
        return [
            flow("2 workers, a chain, no fault", chain) { $0.isQuick = true },
            flow("2 workers, a join, 1 crash", join) { $0.faults.crashes = 1 },
            flow("2 workers, a join, 1 pause", join) { $0.faults.pauses = 1 },
            flow("1 worker, a join, 1 lost message, 1 cancel", join) {
                $0.workers = 1
                $0.faults.lost = 1
                $0.faults.cancels = 1
                $0.isQuick = true
                $0.mustReach.insert(.skipped)
            },
            flow("2 workers, a join, 1 rollback", join) { $0.faults.rollbacks = 1 },
            flow("2 workers, a chain, 2 revivals, 1 cancel", chain) {
                $0.faults.revivals = 2
                $0.faults.cancels = 1
                $0.isQuick = true
                $0.mustReach.formUnion([.skipped, .retriedByHand])
            },
            flow("2 workers, a fork, 1 deletion, 1 revival", fork) {
                $0.faults.deletions = 1
                $0.faults.revivals = 1
                $0.mustReach.insert(.skipped)
            },
            flow("1 worker, a fork, a stop, 1 cancel", fork) {
                $0.workers = 1
                $0.faults.stops = 1
                $0.faults.cancels = 1
                $0.isQuick = true
                $0.mustReach.insert(.workflowCancelled)
            },
            flow("2 workers, a join whose dead jobs cancel the rest, 1 revival", join, .cancelRest) {
                $0.faults.revivals = 1
                $0.isQuick = true
            },
            flow("2 workers, a fork whose dead jobs count as finished, 1 revival", fork, .ignore) {
                $0.faults.revivals = 1
                $0.isQuick = true
                $0.mustReach.remove(.workflowFailed)
            },
            flow("1 worker, a chain that expires, 1 cancel", chain.map { FlowJob(kind: .shortLived, after: $0.after) })
            {
                $0.workers = 1
                $0.faults.cancels = 1
                $0.isQuick = true
                $0.mustReach.insert(.skipped)
            },
            ofOneName("1 worker, a join of jobs of one name, which another replaces, 1 cancel", join, .replace) {
                $0.faults.cancels = 1
                $0.mustReach.insert(.replaced)
            },
            ofOneName("1 worker, a join of jobs of one name that are dropped, another, 1 revival", join, .drop) {
                $0.faults.revivals = 1
                $0.mustReach.insert(.dropped)
            },
        ]
    }

    /// A workflow whose jobs have the name of another job that is pushed, with the same policy.
    private static func ofOneName(
        _ name: String,
        _ jobs: [FlowJob],
        _ policy: UniquenessPolicy,
        _ change: (inout Self) -> Void
    ) -> Self {
        let kind = JobKind(policy: policy)
        return flow(name, jobs.map { FlowJob(kind: kind, after: $0.after, when: $0.when) }) {
            ($0.workers, $0.jobs, $0.kinds, $0.isQuick) = (1, 1, [kind], true)
            change(&$0)
        }
    }

    private static func flow(
        _ name: String,
        _ jobs: [FlowJob],
        _ onDead: DeadMemberPolicy = .hold,
        _ change: (inout Self) -> Void
    ) -> Self {
        Self(name) {
            ($0.flow, $0.onDead) = (jobs, onDead)
            $0.jobs = 0
            $0.kinds = [.plain]
            $0.workersAreHandedJobs = false
            $0.mustReach = [.claimed, .workflowFinished, .workflowFailed]
            change(&$0)
        }
    }
}
