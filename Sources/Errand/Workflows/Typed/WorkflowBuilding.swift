/// What jobs can be added to: a ``Workflow``, or a ``WorkflowAddition`` of a running job.
public protocol WorkflowBuilding: Sendable {
    /// The jobs so far.
    var nodes: WorkflowNodes { get }
}

extension WorkflowBuilding {
    /// Adds a job. Errors, such as arguments that cannot be encoded, are thrown by the push.
    ///
    /// ```swift
    /// let fetched = flow.add(Fetch(url))
    /// flow.add(Parse(), after: fetched)
    /// ```
    ///
    /// - Parameters:
    ///   - parameters: The job's parameters.
    ///   - key: The job's name within the workflow, 1 to 128 characters of `A-Z a-z 0-9 _ . : -`, by which handlers read
    ///     its result. The operation's name if `nil`, with `-2`, `-3` and so on for further jobs of the operation.
    ///   - after: The jobs that must end first; at most 1,000 jobs may come after the same one.
    ///   - when: How all of those must end.
    ///   - options: What is special about this job; without an id.
    @discardableResult
    public func add<Parameters: JobParameters>(
        _ parameters: Parameters,
        key: String? = nil,
        after: WorkflowNode...,
        when: WorkflowCondition = .success,
        options: PushOptions = PushOptions()
    ) -> WorkflowNode {
        add(parameters, key: key, after: after, when: when, options: options)
    }

    /// Adds a job that comes after any number of jobs, as the other method does.
    @discardableResult
    public func add<Parameters: JobParameters>(
        _ parameters: Parameters,
        key: String? = nil,
        after: [WorkflowNode],
        when: WorkflowCondition = .success,
        options: PushOptions = PushOptions()
    ) -> WorkflowNode {
        nodes.add(key, name: Parameters.jobName) { key in
            WorkflowNodes.Entry(
                key: key,
                after: after,
                when: when,
                hasDelay: options.hasDelay,
                queue: options.queue ?? Parameters.jobDefaults.queue,
                describe: { now in try parameters.described(options, now: now) }
            )
        }
    }

    /// Adds a job of an operation without a type.
    ///
    /// - Parameters:
    ///   - description: The job, without an id.
    ///   - key: The job's name within the workflow, as for typed jobs.
    ///   - after: The jobs that must end first.
    ///   - when: How all of those must end.
    @discardableResult
    public func add(
        _ description: OperationDescription,
        key: String? = nil,
        after: [WorkflowNode] = [],
        when: WorkflowCondition = .success
    ) -> WorkflowNode {
        nodes.add(key, name: description.operation) { key in
            WorkflowNodes.Entry(
                key: key,
                after: after,
                when: when,
                hasDelay: false,
                queue: description.givenQueue,
                describe: { _ in description }
            )
        }
    }
}
