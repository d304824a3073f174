extension Producer {
    /// Waits until a pushed job has ended, and says how.
    ///
    /// It cannot hang on a job that has ended: it looks at the job, listens to the queue's events, and looks again with each
    /// one that names the job, with every new subscription, and every few seconds.
    ///
    /// - Parameters:
    ///   - receipt: what the push returned; of a push that was `dropped`, the job that holds the name is waited for.
    ///   - limit: how long to wait; for as long as it takes when left out.
    /// - Throws: ``BrokerError`` when the broker refuses the question, `CancellationError` when the task is cancelled. A broker
    ///   that is away is waited for.
    public func ending(of receipt: Receipt, within limit: Duration? = nil) async throws -> JobEnding {
        try await JobWatch(broker: broker, id: receipt.id, queue: receipt.queue).ending(within: limit)
    }

    /// Waits until a pushed job has finished, 30 s unless told otherwise, and gives its result.
    ///
    /// ```swift
    /// let receipt = try await producer.push(Thumbnail(path: "a.jpg"))
    /// let image = try await producer.result(of: receipt).decode(as: ImageInfo.self)
    /// ```
    ///
    /// A failed job is retried first, by default for at least 84 s: ask for more time to see it end.
    ///
    /// - Parameters:
    ///   - receipt: what the push returned.
    ///   - limit: how long to wait, 30 s when left out; `nil` for as long as it takes.
    /// - Throws: ``JobNotFinished`` when it ended otherwise, the time was over, or the broker does not know the job (any
    ///   more): results are kept for a day, the last 10,000 of a queue. Else as ``ending(of:within:)``.
    public func result(of receipt: Receipt, within limit: Duration? = .seconds(30)) async throws -> JobResult {
        let ending = try await ending(of: receipt, within: limit)
        guard let result = ending.result, !ending.isOutOfTime else {
            throw JobNotFinished(
                id: receipt.id,
                state: ending.state,
                isOutOfTime: ending.isOutOfTime,
                limit: limit,
                error: ending.error
            )
        }
        return JobResult(id: receipt.id, bytes: result)
    }

    /// Waits until a pushed job has finished, 30 s unless told otherwise, and reads its result as a value of a type of yours.
    ///
    /// - Throws: as ``result(of:within:)``, and `DecodingError` when the result is something else.
    public func result<Value: Decodable>(
        of receipt: Receipt,
        as type: Value.Type,
        within limit: Duration? = .seconds(30)
    ) async throws -> Value {
        try await result(of: receipt, within: limit).decode(as: type)
    }
}

/// What a finished job gave.
public struct JobResult: Sendable, Equatable {
    /// The job's id.
    public let id: String
    /// The result as the broker keeps it: JSON of a typed job, else whatever its handler gave; empty when it gave nothing.
    public let bytes: [UInt8]

    /// Reads the result as a value of a type of yours.
    ///
    /// - Throws: when it is not JSON, or not of that type's shape.
    public func decode<Value: Decodable>(as type: Value.Type = Value.self) throws -> Value {
        try JSONText(validating: bytes).decode(type)
    }

    /// Most bytes of a result.
    static let mostBytes = 64 << 10

    /// A value as a job's result.
    static func encode(_ value: some Encodable) throws -> [UInt8] {
        let bytes = try JSONText(encoding: value).bytes
        guard bytes.count <= mostBytes else {
            throw JobFailure(
                "the result has \(bytes.count) bytes of JSON; at most \(mostBytes) are kept",
                isFinal: true
            )
        }
        return bytes
    }
}

/// Why there is no result of a job.
public struct JobNotFinished: Error, Sendable, Equatable, CustomStringConvertible {
    /// The job's id.
    public let id: String
    /// What the job is; `nil` when the broker does not know it (any more), or could not be asked.
    public let state: JobState?
    /// Whether the time was over.
    public let isOutOfTime: Bool
    /// How long the caller wanted to wait; `nil` for as long as it takes.
    public let limit: Duration?
    /// Why the job did not finish, or why its last run failed.
    public let error: String?

    /// A sentence with the state and the reason.
    public var description: String {
        let reason = error.map { ": \($0)" } ?? ""
        let standing = state.map { "is \($0.rawValue)\(reason)" }
        guard isOutOfTime else { return "job \(id) \(standing ?? "is not known to the broker (any more)")" }
        let waited = limit.map { " within \($0)" } ?? ""
        return "job \(id) had not ended\(waited): it \(standing ?? "cannot be looked up"); "
            + "pass a longer time as 'within', or nil to wait for as long as it takes"
    }
}
