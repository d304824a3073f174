/// A job as it is sent to the broker: the settled description in the form that is stored, and beside it what the broker
/// has to know without reading JSON.
public struct JobEnvelope: Sendable, Equatable {
    /// The job's id, made by the producer before it first sends.
    public let id: String
    /// The queue to push to.
    public let queue: String
    /// What kind of work it is.
    public let operation: String
    /// The name for uniqueness; always there unless the policy is `ignore`.
    public let name: String?
    /// What happens when another job holds the name.
    public let policy: UniquenessPolicy
    /// How long the job holds its name.
    public let uniqueUntil: UniqueUntil
    /// 0 to 9, 9 first.
    public let priority: Int
    /// The earliest time to run, in milliseconds since 1970 UTC; 0 for now.
    public let notBefore: Int64
    /// What is stored: a header of one line, a fragment for events, the description's JSON text. See `docs/format.md`.
    public let bytes: [UInt8]
}

extension JobEnvelope {
    /// The same job, due at another time as far as the broker can tell; for checks that make many of them.
    package func due(at time: Int64) -> JobEnvelope {
        JobEnvelope(
            id: id,
            queue: queue,
            operation: operation,
            name: name,
            policy: policy,
            uniqueUntil: uniqueUntil,
            priority: priority,
            notBefore: time,
            bytes: bytes
        )
    }
}

extension OperationDescription {
    /// Settles what the producer settles (id, queue, name, policy) and makes the envelope to push.
    ///
    /// - Parameter idGenerator: Makes an id when the description has none.
    /// - Throws: ``DescriptionError`` when the made id is not one, or the settled text is too large for a description.
    public func makeEnvelope(idGenerator: () -> String = JobIDGenerator.next) throws(DescriptionError) -> JobEnvelope {
        let settled = try settling(id: id ?? idGenerator())
        return JobEnvelope(
            id: settled.id ?? "",
            queue: settled.queue,
            operation: operation,
            name: settled.name,
            policy: settled.uniquenessPolicy,
            uniqueUntil: settled.uniqueUntil,
            priority: priority,
            notBefore: notBefore ?? 0,
            bytes: try settled.envelopeBytes()
        )
    }

    private func settling(id: String) throws(DescriptionError) -> OperationDescription {
        guard DescriptionRules.isID(id.utf8) else { throw DescriptionError(.invalidValue, .id) }
        var settled = self
        settled.id = id
        settled.name = uniqueName
        settled.givenQueue = queue
        settled.givenPolicy = uniquenessPolicy
        return settled
    }
}
