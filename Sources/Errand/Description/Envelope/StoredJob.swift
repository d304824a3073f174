/// A job as the broker has kept it: read back from what was stored, and checked.
public struct StoredJob: Sendable, Equatable {
    /// Since when the job has been ready, in milliseconds since 1970 UTC by the broker's clock.
    public let readySince: Int64
    /// What happens when another job holds the name.
    public let policy: UniquenessPolicy
    /// How long the job holds its name.
    public let uniqueUntil: UniqueUntil
    /// 0 to 9, 9 first.
    public let priority: Int
    /// How long a run may take; nil leaves it to the worker.
    public let timeout: Duration?
    /// How often a failed run is repeated; nil leaves it to the worker.
    public let retries: Int?
    /// Operation and name as members of a JSON object, for events.
    public let fragment: [UInt8]
    /// The description itself.
    public let description: OperationDescription

    /// How many digits the time has with which a stored job begins.
    static let timeDigits = 13
}

extension JobEnvelope {
    /// Reads what the broker has stored of a job: 13 digits of a time, then the envelope.
    ///
    /// Anything may stand there, since anybody who can write to the broker can write anything: whatever it is, the
    /// answer is a job or an error. Header and fragment must say what the description says, so that the broker, which
    /// reads only the header, and the worker, which reads the description, never act on different numbers.
    ///
    /// - Throws: ``EnvelopeError`` saying which part cannot be read and why.
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
            description: description
        )
    }
}
