/// A workflow as a producer describes it: jobs, what each of them comes after, and what happens at the end.
///
/// Producers in every language share its format, which `docs/format.md` defines. A value of this type is always valid:
/// the jobs form a graph without cycles, and every limit is kept.
///
/// ```swift
/// let workflow = try WorkflowDescription(
///     "import 42",
///     jobs: [
///         .init("fetch", try OperationDescription("fetch", arguments: ["url": "https://example.org"])),
///         .init("parse", try OperationDescription("parse"), after: ["fetch"]),
///     ]
/// )
/// ```
public struct WorkflowDescription: Sendable, Equatable {
    /// A job of a workflow.
    public struct Job: Sendable, Equatable {
        /// The job's name within the workflow: 1 to 128 characters of `A-Z a-z 0-9 _ . : -`.
        public let key: String
        /// The operation, its arguments, and how to run them; without an id, which the workflow makes.
        public internal(set) var description: OperationDescription
        /// The keys of the jobs that it comes after.
        public let after: [String]
        /// How all of those must end.
        public let when: WorkflowCondition

        /// Makes a job, which is checked when its workflow is made.
        public init(
            _ key: String,
            _ description: OperationDescription,
            after: [String] = [],
            when: WorkflowCondition = .success
        ) {
            self.key = key
            self.description = description
            self.after = after
            self.when = when
        }
    }

    /// The name, for people and for the policy: 1 to 1,024 bytes.
    public let name: String
    /// The home queue, if one was given.
    public let givenQueue: String?
    /// What happens if another workflow of the home queue that has not ended has the name: `ignore` pushes both, `drop`
    /// nothing, `replace` cancels the other one.
    public let uniquenessPolicy: UniquenessPolicy
    /// What happens when one of the jobs is dead.
    public let onDead: DeadMemberPolicy
    /// The jobs, in the order in which they were written; at least 1 and at most 100,000.
    public private(set) var jobs: [Job]
    /// The job that is pushed when the workflow has finished.
    public private(set) var onSuccess: OperationDescription?
    /// The job that is pushed when the workflow has failed.
    public private(set) var onFailure: OperationDescription?
    /// The positions in ``jobs`` of what each job comes after, and an order of the jobs.
    let graph: WorkflowGraph

    /// The home queue, also of jobs that name no queue: the given one, or else that of the first job.
    public var queue: String { givenQueue ?? jobs.first?.description.queue ?? "default" }

    /// Makes a workflow.
    ///
    /// - Parameters:
    ///   - name: The name, 1 to 1,024 bytes.
    ///   - queue: The home queue, also of jobs that name no queue; that of the first job if `nil`.
    ///   - unique: `ignore`, `drop` or `replace`; see ``uniquenessPolicy``.
    ///   - onDead: What happens when a job is dead.
    ///   - jobs: The jobs: 1 to 100,000, with keys that differ, at most 1,000 of them after the same job.
    ///   - onSuccess: The job that is pushed when the workflow has finished.
    ///   - onFailure: The job that is pushed when it has failed.
    /// - Throws: ``WorkflowError`` for the first invalid value.
    public init(
        _ name: String,
        queue: String? = nil,
        unique: UniquenessPolicy = .ignore,
        onDead: DeadMemberPolicy = .hold,
        jobs: [Job],
        onSuccess: OperationDescription? = nil,
        onFailure: OperationDescription? = nil
    ) throws(WorkflowError) {
        self.name = name
        givenQueue = queue
        uniquenessPolicy = unique
        self.onDead = onDead
        self.jobs = jobs
        self.onSuccess = onSuccess
        self.onFailure = onFailure
        try WorkflowKey.workflow.check(DescriptionRules.isName(name.utf8))
        try WorkflowKey.queue.check(queue.map { DescriptionRules.isToken($0.utf8) } ?? true)
        try WorkflowKey.unique.check([.ignore, .drop, .replace].contains(unique))
        for job in jobs { try job.description.checkFree(in: [WorkflowKey.jobs.rawValue, job.key]) }
        try onSuccess?.checkFree(in: [WorkflowKey.onSuccess.rawValue])
        try onFailure?.checkFree(in: [WorkflowKey.onFailure.rawValue])
        graph = try WorkflowGraph(jobs)
    }

    /// Returns the workflow with changed descriptions of its jobs and callbacks, such as with a catalogue's defaults.
    ///
    /// - Throws: ``WorkflowError`` with the place of an error of `change`.
    package func changingJobs(
        _ change: (OperationDescription) throws -> OperationDescription
    ) throws(WorkflowError) -> Self {
        func changed(
            _ description: OperationDescription,
            _ place: String...
        ) throws(WorkflowError) -> OperationDescription {
            do { return try change(description) } catch let error as DescriptionError {
                throw WorkflowError(error, in: place)
            } catch { throw WorkflowError(.invalidValue, place, "\(error)") }
        }
        var workflow = self
        for (index, job) in jobs.enumerated() {
            workflow.jobs[index].description = try changed(job.description, WorkflowKey.jobs.rawValue, job.key)
        }
        if let job = onSuccess { workflow.onSuccess = try changed(job, WorkflowKey.onSuccess.rawValue) }
        if let job = onFailure { workflow.onFailure = try changed(job, WorkflowKey.onFailure.rawValue) }
        return workflow
    }

    /// Returns the workflow with the descriptions that middleware has changed, in the order of its jobs.
    ///
    /// - Throws: ``WorkflowError`` if some are missing, or one is that of an existing job.
    func replacing(_ descriptions: [OperationDescription]) throws(WorkflowError) -> WorkflowDescription {
        guard descriptions.count == jobs.count else {
            let message = "a middleware has changed the number of jobs; it may change jobs only, or refuse all"
            throw WorkflowError(.invalidValue, [WorkflowKey.jobs.rawValue], message)
        }
        var changed = self
        for (index, description) in descriptions.enumerated() { changed.jobs[index].description = description }
        return changed
    }

    /// Returns the workflow with another policy or home queue; a value that is `nil` stays unchanged.
    ///
    /// - Throws: ``WorkflowError`` if a value is invalid.
    package func with(queue: String?, unique: UniquenessPolicy?) throws(WorkflowError) -> WorkflowDescription {
        try WorkflowDescription(
            name,
            queue: queue ?? givenQueue,
            unique: unique ?? uniquenessPolicy,
            onDead: onDead,
            jobs: jobs,
            onSuccess: onSuccess,
            onFailure: onFailure
        )
    }
}

extension OperationDescription {
    /// Throws if the description is of a job that exists: a workflow makes its jobs.
    fileprivate func checkFree(in place: [String]) throws(WorkflowError) {
        if id != nil {
            let message = "must be absent, because a workflow makes the ids of its jobs; leave it out"
            throw WorkflowError(.invalidValue, place + [DescriptionKey.id.rawValue], message)
        }
        guard workflow != nil else { return }
        let message = "must be absent, because a workflow sets it; leave it out"
        throw WorkflowError(.invalidValue, place + [DescriptionKey.workflow.rawValue], message)
    }
}
