/// What the broker knows of a workflow.
public struct WorkflowRecord: Sendable, Equatable {
    /// Its id.
    public let id: WorkflowID
    /// Its name.
    public let name: String
    /// Its state.
    public let state: WorkflowState
    /// How often it was begun: 1, and one more each time its last dead job is retried or deleted.
    public let round: Int
    /// How many jobs it has.
    public let count: Int
    /// How many of them have not ended. Dead ones that hold it up have not.
    public let open: Int
    /// How many of them are dead and hold it up.
    public let dead: Int
    /// What happens when one of its jobs is dead.
    public let onDead: DeadMemberPolicy
    /// When it was pushed, and when it ended, in milliseconds since 1970 UTC.
    public let pushedAt: Int64
    /// `nil` until all of its jobs have ended.
    public let endedAt: Int64?

    package init(
        id: WorkflowID,
        name: String,
        state: WorkflowState,
        round: Int,
        count: Int,
        open: Int,
        dead: Int,
        onDead: DeadMemberPolicy,
        pushedAt: Int64,
        endedAt: Int64?
    ) {
        self.id = id
        self.name = name
        self.state = state
        self.round = round
        self.count = count
        self.open = open
        self.dead = dead
        self.onDead = onDead
        self.pushedAt = pushedAt
        self.endedAt = endedAt
    }
}

/// A job of a workflow.
public struct WorkflowMemberRecord: Sendable, Equatable {
    /// What it comes after.
    public struct Need: Sendable, Equatable {
        /// The key of the job.
        public let key: String
        /// How it must end.
        public let condition: WorkflowCondition

        package init(key: String, condition: WorkflowCondition) {
            self.key = key
            self.condition = condition
        }
    }

    /// Its name within the workflow.
    public let key: String
    /// The id of the job, or of the one that has taken its place.
    public let id: String
    /// The queue of the job.
    public let queue: String
    /// Its state, or how it has ended.
    public let state: JobState
    /// What it comes after.
    public let needs: [Need]
    /// When it ended, in milliseconds since 1970 UTC; `nil` if it has not.
    public let endedAt: Int64?

    package init(key: String, id: String, queue: String, state: JobState, needs: [Need], endedAt: Int64?) {
        self.key = key
        self.id = id
        self.queue = queue
        self.state = state
        self.needs = needs
        self.endedAt = endedAt
    }
}

extension WorkflowMemberRecord {
    func with(state: JobState) -> WorkflowMemberRecord {
        WorkflowMemberRecord(key: key, id: id, queue: queue, state: state, needs: needs, endedAt: endedAt)
    }
}

/// A page of a queue's workflows.
public struct WorkflowPage: Sendable, Equatable {
    /// The workflows, the newest first.
    public var workflows: [WorkflowRecord]
    /// The position at which the next page begins; `nil` after the last.
    public var next: Int?

    /// Makes a page.
    public init(workflows: [WorkflowRecord] = [], next: Int? = nil) {
        self.workflows = workflows
        self.next = next
    }
}

/// What became of a workflow that was to be changed by hand.
public enum WorkflowChange: Sendable, Equatable {
    /// It was changed; with the number of jobs that had not ended, or that were retried.
    case changed(jobs: Int)
    /// It has ended, or no job of it is dead, so there is nothing to cancel or to retry.
    case nothingToDo
    /// Some of its jobs run, so it is not deleted.
    case running(jobs: Int)
    /// The broker does not have it.
    case notFound
}
