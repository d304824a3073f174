/// A job that was read from the broker and checked.
public struct StoredJob: Sendable, Equatable {
    /// When the job became ready, in milliseconds since 1970 UTC by the broker's clock.
    public let readySince: Int64
    /// What happens if another job holds the name.
    public let policy: UniquenessPolicy
    /// How long the job holds its name.
    public let uniqueUntil: UniqueUntil
    /// The priority, 0 to 9; jobs with higher numbers run first.
    public let priority: Int
    /// How long a run may take; if `nil`, the worker's timeout applies.
    public let timeout: Duration?
    /// The number of retries after a failed run; if `nil`, the worker's.
    public let retries: Int?
    /// Operation and name as members of a JSON object, for events.
    public let fragment: [UInt8]
    /// The description.
    public let description: OperationDescription
    /// When the job expires unless a worker has claimed it, in milliseconds since 1970 UTC; `nil` if it does not.
    package let expiresAt: Int64?

    /// The number of digits of the time at the beginning of a stored job.
    static let timeDigits = 13
}

extension JobEnvelope {
    /// Reads a stored job: 13 digits of a time, then the envelope.
    ///
    /// Any program with access to the broker can write anything, so this returns a job or throws an error for all
    /// bytes. Header and fragment must agree with the description, so that the broker, which reads only the header, and
    /// the worker, which reads the description, use the same values.
    ///
    /// - Throws: ``EnvelopeError`` that states which part cannot be read and why.
    public static func read(stored bytes: some Sequence<UInt8>) throws(EnvelopeError) -> StoredJob {
        let bytes = Array(bytes)
        var reader = EnvelopeReader(bytes)
        let readySince = try reader.time()
        let header = try reader.header()
        let fragment = try reader.fragment(count: header.fragmentCount)
        let description = try reader.description()
        try header.check(against: description)
        try reader.check(fragment, against: description)
        return StoredJob(
            readySince: readySince,
            policy: description.uniquenessPolicy,
            uniqueUntil: description.uniqueUntil,
            priority: description.priority,
            timeout: description.timeout,
            retries: description.retries,
            fragment: Array(fragment),
            description: description,
            expiresAt: header.expiry?.time
        )
    }
}
