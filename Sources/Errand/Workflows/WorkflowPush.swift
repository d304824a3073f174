/// A workflow as it is pushed, without its jobs.
public struct WorkflowHeader: Sendable, Equatable {
    /// The workflow's id, which its producer makes, so that a call whose reply was lost can be repeated.
    public let id: WorkflowID
    /// The name for people, and for the policy.
    public let name: String
    /// What happens if another workflow of the home queue that has not ended has the name: `ignore` pushes both, `drop` none,
    /// `replace` cancels the other one.
    public let policy: UniquenessPolicy
    /// What happens when one of its jobs is dead.
    public let onDead: DeadMemberPolicy
    /// The job that is pushed when the workflow has finished. Its id is for the first round; the broker makes those of
    /// later rounds from it.
    public let onSuccess: JobEnvelope?
    /// The job that is pushed when the workflow has failed. Its id is for the first round, too.
    public let onFailure: JobEnvelope?

    package init(
        id: WorkflowID,
        name: String,
        policy: UniquenessPolicy = .ignore,
        onDead: DeadMemberPolicy = .hold,
        onSuccess: JobEnvelope? = nil,
        onFailure: JobEnvelope? = nil
    ) {
        self.id = id
        self.name = name
        self.policy = policy
        self.onDead = onDead
        self.onSuccess = onSuccess
        self.onFailure = onFailure
    }
}

/// A job of a workflow as it is pushed.
public struct WorkflowMember: Sendable, Equatable {
    /// The job. Its id ends with ``number``, unless a running job has added it.
    public let job: JobEnvelope
    /// Its number, from 0. Jobs that it comes after have lower numbers.
    public let number: Int
    /// Its name within the workflow.
    public let key: String
    /// What it comes after.
    public let needs: [WorkflowNeed]

    package init(job: JobEnvelope, number: Int, key: String, needs: [WorkflowNeed]) {
        self.job = job
        self.number = number
        self.key = key
        self.needs = needs
    }
}

/// A job that another one comes after.
public struct WorkflowNeed: Sendable, Hashable {
    /// The number of the job to wait for; see ``isAdded``.
    public let number: Int
    /// Whether the number is that of a job in the same call of a running job, which counts from 0, instead of one of the
    /// workflow's numbers.
    public let isAdded: Bool
    /// How it must end.
    public let condition: WorkflowCondition

    package init(number: Int, isAdded: Bool = false, condition: WorkflowCondition) {
        self.number = number
        self.isAdded = isAdded
        self.condition = condition
    }
}

/// The outcome of a push of a workflow.
public struct WorkflowReceipt: Sendable, Equatable, Codable {
    /// What happened.
    public enum Outcome: String, Sendable, Codable {
        /// It runs.
        case accepted
        /// Another workflow has the name, and nothing was pushed. ``WorkflowReceipt/workflow`` is the other one.
        case dropped
        /// It runs, and another workflow of the name was cancelled: ``WorkflowReceipt/replaced``.
        case replaced
        /// The replies were lost. It runs whole or not at all; the same push can be made again.
        case unknown
    }

    /// The workflow.
    public let workflow: String
    /// What happened.
    public let outcome: Outcome
    /// The ids of its jobs by their keys; empty if it was dropped.
    public let jobs: [String: String]
    /// The workflow that was cancelled for it; `nil` unless it has replaced one.
    public let replaced: String?

    /// Makes a receipt.
    public init(workflow: String, outcome: Outcome, jobs: [String: String], replaced: String? = nil) {
        self.workflow = workflow
        self.outcome = outcome
        self.jobs = jobs
        self.replaced = replaced
    }
}
