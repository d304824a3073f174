/// A job as it is sent to the broker: the completed description in its stored form, and the values that the broker
/// needs without reading JSON.
public struct JobEnvelope: Sendable, Equatable {
    /// The job's id, which the producer makes before the first push.
    public let id: String
    /// The queue to push to.
    public let queue: String
    /// The operation.
    public let operation: String
    /// The name for uniqueness; `nil` only if the policy is `ignore`.
    public let name: String?
    /// What happens if another job holds the name.
    public let policy: UniquenessPolicy
    /// How long the job holds its name.
    public let uniqueUntil: UniqueUntil
    /// The window of the policies `throttle` and `debounce` in milliseconds; 0 for other policies.
    public let window: Int64
    /// How long a debounced job waits at most while newer ones come, in milliseconds; 0 for no limit.
    public let atMost: Int64
    /// The priority, 0 to 9; jobs with higher numbers run first.
    public let priority: Int
    /// The earliest time to run, in milliseconds since 1970 UTC; 0 for now.
    public let notBefore: Int64
    /// The stored form: a header of one line, a fragment for events, the description's JSON text. See `docs/format.md`.
    public let bytes: [UInt8]
}

extension JobEnvelope {
    /// Returns the same job with another due time for the broker, for tests that make many jobs.
    package func due(at time: Int64) -> JobEnvelope { with(notBefore: time) }

    /// Returns the same job with another id or queue for the broker, or another due time. Its description keeps them.
    package func with(id: String? = nil, queue: String? = nil, notBefore: Int64? = nil) -> JobEnvelope {
        JobEnvelope(
            id: id ?? self.id,
            queue: queue ?? self.queue,
            operation: operation,
            name: name,
            policy: policy,
            uniqueUntil: uniqueUntil,
            window: window,
            atMost: atMost,
            priority: priority,
            notBefore: notBefore ?? self.notBefore,
            bytes: bytes
        )
    }
}

extension OperationDescription {
    /// Completes the description (id, queue, name, policy) and makes the envelope to push.
    ///
    /// - Parameter idGenerator: Makes an id if the description has none.
    /// - Throws: ``DescriptionError`` if that id is invalid, the policy lacks its window, the description is that of a
    ///   workflow's job, or the completed text is too large for a description.
    public func makeEnvelope(idGenerator: () -> String = JobIDGenerator.next) throws(DescriptionError) -> JobEnvelope {
        try refuseWorkflow()
        return try envelope(of: settling(id: id ?? idGenerator()))
    }

    /// Makes the envelope of a job of a workflow.
    ///
    /// - Throws: ``DescriptionError`` as ``makeEnvelope(idGenerator:)`` does, and if the description has an id.
    func makeEnvelope(id: String, in membership: WorkflowMembership) throws(DescriptionError) -> JobEnvelope {
        try refuseWorkflow()
        guard self.id == nil else {
            throw DescriptionError(
                .invalidValue,
                field: DescriptionKey.id.rawValue,
                "must be absent in a workflow, which makes the ids of its jobs; leave it out"
            )
        }
        var settled = try settling(id: id)
        settled.workflow = membership
        return try envelope(of: settled)
    }

    private func refuseWorkflow() throws(DescriptionError) {
        guard workflow != nil else { return }
        throw DescriptionError(
            .invalidValue,
            field: DescriptionKey.workflow.rawValue,
            "must be absent: only the push of a workflow sets it; leave it out to push a job of no workflow"
        )
    }

    private func envelope(of settled: OperationDescription) throws(DescriptionError) -> JobEnvelope {
        JobEnvelope(
            id: settled.id ?? "",
            queue: settled.queue,
            operation: operation,
            name: settled.name,
            policy: settled.uniquenessPolicy,
            uniqueUntil: settled.uniqueUntil,
            window: settled.uniquenessPolicy.hasWindow ? settled.windowMilliseconds ?? 0 : 0,
            atMost: settled.uniquenessPolicy == .debounce ? settled.atMostMilliseconds ?? 0 : 0,
            priority: priority,
            notBefore: notBefore ?? 0,
            bytes: try settled.envelopeBytes()
        )
    }

    private func checkWindow() throws(DescriptionError) {
        guard uniquenessPolicy.hasWindow else { return }
        guard windowMilliseconds != nil else {
            throw DescriptionError(
                .missingKey,
                field: DescriptionKey.window.rawValue,
                "is missing; \"\(uniquenessPolicy.rawValue)\" needs a window"
            )
        }
        guard uniquenessPolicy == .debounce, notBefore ?? 0 != 0 else { return }
        throw DescriptionError(
            .invalidValue,
            field: DescriptionKey.notBefore.rawValue,
            "must be absent if \"unique\" is \"debounce\", because the window determines when the job is due"
        )
    }

    private func settling(id: String) throws(DescriptionError) -> OperationDescription {
        guard DescriptionRules.isID(id.utf8) else { throw DescriptionError(.invalidValue, .id) }
        var settled = self
        settled.id = id
        settled.name = uniqueName
        settled.givenQueue = queue
        settled.givenPolicy = uniquenessPolicy
        try settled.checkWindow()
        return settled
    }
}
