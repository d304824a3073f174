extension Producer {
    /// Waits until a pushed job has ended, and returns how it ended.
    ///
    /// It does not wait for a job that has already ended: it inspects the job at once, after every event that names the
    /// job, after every new subscription, and every few seconds.
    ///
    /// - Parameters:
    ///   - receipt: the receipt of the push; if the push was `dropped`, the job that holds the name is waited for.
    ///   - limit: how long to wait; without a limit if `nil`.
    /// - Throws: ``BrokerError`` if the broker rejects the call, `CancellationError` if the task is cancelled. While
    ///   the broker is unreachable, it waits.
    public func ending(of receipt: Receipt, within limit: Duration? = nil) async throws -> JobEnding {
        try await JobWatch(broker: broker, id: receipt.id, queue: receipt.queue).ending(within: limit)
    }

    /// Waits until a pushed job has finished, 30 s by default, and returns its result.
    ///
    /// ```swift
    /// let receipt = try await producer.push(Thumbnail(path: "a.jpg"))
    /// let image = try await producer.result(of: receipt).decode(as: ImageInfo.self)
    /// ```
    ///
    /// A failed job is retried first, by default for at least 84 s: pass a longer limit to see it end.
    ///
    /// - Parameters:
    ///   - receipt: the receipt of the push.
    ///   - limit: how long to wait, 30 s by default; without a limit if `nil`.
    /// - Throws: ``JobNotFinished`` if the job ended without finishing, the time ran out, or the broker does not have
    ///   the job (any more): results are kept for a day, at most 10,000 of a queue. Otherwise as
    ///   ``ending(of:within:)``.
    public func result(of receipt: Receipt, within limit: Duration? = .seconds(30)) async throws -> JobResult {
        let ending = try await ending(of: receipt, within: limit)
        guard let result = ending.result, !ending.isOutOfTime else {
            var error = ending.error
            if error == nil, ending.isOutOfTime { error = await obstacle(to: receipt, ending.state) }
            throw JobNotFinished(
                id: receipt.id,
                state: ending.state,
                isOutOfTime: ending.isOutOfTime,
                limit: limit,
                error: error
            )
        }
        return JobResult(id: receipt.id, bytes: result)
    }

    /// Returns why a job that waits does not run, if that is easy to see. It is only an explanation, so a broker that does
    /// not reply is none.
    func obstacle(to receipt: Receipt, _ state: JobState?) async -> String? {
        guard state == .ready, let (queue, sessions) = try? await broker.status(of: receipt.queue) else { return nil }
        if queue.isPaused { return "queue \(receipt.queue) is paused" }
        let live = sessions.filter { !$0.isLost }
        if live.isEmpty { return "no worker serves queue \(receipt.queue)" }
        guard let record = try? await job(receipt), let job = try? JobEnvelope.read(stored: record.body) else {
            return nil
        }
        let operation = job.description.operation
        if !live.contains(where: { $0.operations.contains(operation) }) {
            return "no worker of queue \(receipt.queue) has the operation \(operation)"
        }
        return "\(queue.ready) jobs are ready in queue \(receipt.queue), and \(queue.executing) are running"
    }

    /// Waits until a pushed job has finished, 30 s by default, and decodes its result.
    ///
    /// - Throws: as ``result(of:within:)-(Receipt,_)``, and `DecodingError` if the result does not fit the type.
    public func result<Value: Decodable>(
        of receipt: Receipt,
        as type: Value.Type,
        within limit: Duration? = .seconds(30)
    ) async throws -> Value {
        try await result(of: receipt, within: limit).decode(as: type)
    }
}

/// The result of a finished job.
public struct JobResult: Sendable, Equatable {
    /// The job's id.
    public let id: String
    /// The stored result: JSON of a typed job, otherwise the bytes that its handler returned; empty if there are none.
    public let bytes: [UInt8]

    /// Decodes the result.
    ///
    /// - Throws: ``JobFailure`` if there is no result or it is not JSON, `DecodingError` if it does not fit the type.
    public func decode<Value: Decodable>(as type: Value.Type = Value.self) throws -> Value {
        try Self.json(bytes, of: "job \(id)").decode(type)
    }

    /// Returns a result as JSON.
    ///
    /// - Parameter job: The job, for people.
    static func json(_ bytes: [UInt8], of job: String) throws(JobFailure) -> JSONText {
        guard !bytes.isEmpty else {
            throw JobFailure(
                "\(job) has finished without a result; let its handler return a value, or read its result without a type",
                isFinal: true
            )
        }
        do { return try JSONText(validating: bytes) } catch {
            throw JobFailure(
                "the result of \(job) is not JSON (\(error)); read its bytes, without a type",
                isFinal: true
            )
        }
    }

    /// The maximum size of a result in bytes.
    static let mostBytes = 64 << 10

    /// Encodes a value as a job's result.
    static func encode(_ value: some Encodable) throws -> [UInt8] {
        let bytes = try JSONText(encoding: value).bytes
        guard bytes.count <= mostBytes else {
            throw JobFailure(
                "the result has \(bytes.count) bytes of JSON, but at most \(mostBytes) are kept; store it elsewhere and return "
                    + "a reference",
                isFinal: true
            )
        }
        return bytes
    }
}

/// The error for a job without a result.
public struct JobNotFinished: Error, Sendable, Equatable, CustomStringConvertible {
    /// The job's id.
    public let id: String
    /// The job's state; `nil` if the broker does not have the job (any more), or could not be reached.
    public let state: JobState?
    /// Whether the time ran out.
    public let isOutOfTime: Bool
    /// How long the caller wanted to wait; `nil` if without a limit.
    public let limit: Duration?
    /// Why the job did not finish, why its last run failed, or why it has not run yet: `no worker serves queue files`.
    public let error: String?

    /// A sentence with the state and the reason.
    public var description: String {
        let reason = error.map { ": \($0)" } ?? ""
        let standing = state.map { "is \($0.rawValue)\(reason)" }
        guard isOutOfTime else {
            let unknown =
                "is not known to the broker (any more): check its id and its queue, and note that ended jobs are kept "
                + "for a while only (errand queue set QUEUE keep-results)"
            return "job \(id) \(standing ?? unknown)"
        }
        let waited = limit.map { " within \($0)" } ?? ""
        return "job \(id) had not ended\(waited): it \(standing ?? "cannot be looked up"); "
            + "pass a longer time as 'within', or nil to wait for as long as it takes"
    }
}
