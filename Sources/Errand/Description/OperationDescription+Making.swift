extension OperationDescription {
    /// Makes a description out of checked values; what is left out is settled by a catalogue, the producer or the
    /// worker.
    ///
    /// - Parameters:
    ///   - operation: What kind of work it is: 1 to 128 characters of `A-Z a-z 0-9 _ . -`.
    ///   - arguments: What it works on, at most 1 MiB of JSON: a literal, or a ``JSONText`` made otherwise.
    ///   - queue: The queue, named like an operation; "default" when left out.
    ///   - name: The name for uniqueness, 1 to 1,024 bytes; operation and arguments when left out.
    ///   - unique: What happens when another job holds the name; `ignore` when left out.
    ///   - uniqueUntil: How long the job holds its name; until it has finished when left out.
    ///   - timeout: How long a run may take, 1 ms to 365 days, rounded up to whole milliseconds.
    ///   - notBefore: The earliest time to run, in milliseconds since 1970 UTC, up to 9,999,999,999,999; numbers of 10 to
    ///     12 digits are refused, because they are times in seconds.
    ///   - retries: How often a failed run is repeated, 0 to 1,000.
    ///   - backoff: How long to wait before each retry: a base of 1 ms to 365 days, a cap from the base to 365 days, a jitter
    ///     of 0 to 1.
    ///   - priority: 0 to 9, 9 first; 5 when left out.
    ///   - id: The job's id, 1 to 64 characters of `A-Z a-z 0-9 _ -`; made on pushing when left out.
    ///   - meta: What travels along beside the arguments.
    /// - Throws: ``DescriptionError`` naming the first value that is not as said here.
    public init(
        _ operation: String,
        arguments: JSONText = .emptyObject,
        queue: String? = nil,
        name: String? = nil,
        unique: UniquenessPolicy? = nil,
        uniqueUntil: UniqueUntil? = nil,
        timeout: Duration? = nil,
        notBefore: Int64? = nil,
        retries: Int? = nil,
        backoff: RetryDelays? = nil,
        priority: Int? = nil,
        id: String? = nil,
        meta: [String: String] = [:]
    ) throws(DescriptionError) {
        self.init(unchecked: operation)
        self.arguments = arguments
        self.name = name
        self.notBefore = notBefore
        self.retries = retries
        self.id = id
        givenQueue = queue
        givenPolicy = unique
        givenUniqueUntil = uniqueUntil
        givenPriority = priority
        timeoutMilliseconds = try timeout.map { duration throws(DescriptionError) in
            try DescriptionRules.timeout(duration)
        }
        backoffText = try backoff.map { delays throws(DescriptionError) in try BackoffMembers(delays).text() }
        metaText = meta.isEmpty ? nil : JSONText(strings: meta)
        try validate()
    }

    /// Makes a description whose arguments are written from a value of a type of yours, keys sorted.
    ///
    /// The other parameters are those of
    /// ``init(_:arguments:queue:name:unique:uniqueUntil:timeout:notBefore:retries:backoff:priority:id:meta:)``.
    ///
    /// - Throws: ``DescriptionError`` naming the first value that is not as it must be, the arguments among them when
    ///   they cannot be written as JSON.
    public init(
        _ operation: String,
        encoding arguments: some Encodable,
        queue: String? = nil,
        name: String? = nil,
        unique: UniquenessPolicy? = nil,
        uniqueUntil: UniqueUntil? = nil,
        timeout: Duration? = nil,
        notBefore: Int64? = nil,
        retries: Int? = nil,
        backoff: RetryDelays? = nil,
        priority: Int? = nil,
        id: String? = nil,
        meta: [String: String] = [:]
    ) throws(DescriptionError) {
        let text: JSONText
        do {
            text = try JSONText(encoding: arguments)
        } catch {
            throw DescriptionError(error, .arguments)
        }
        try self.init(
            operation,
            arguments: text,
            queue: queue,
            name: name,
            unique: unique,
            uniqueUntil: uniqueUntil,
            timeout: timeout,
            notBefore: notBefore,
            retries: retries,
            backoff: backoff,
            priority: priority,
            id: id,
            meta: meta
        )
    }

    /// The same description, with these values where it leaves something out.
    ///
    /// This is how a catalogue's defaults, or a producer's, come in: what the description says itself wins.
    ///
    /// - Throws: ``DescriptionError`` when a value that was used is not as it must be.
    public func filling(
        queue: String? = nil,
        name: String? = nil,
        unique: UniquenessPolicy? = nil,
        uniqueUntil: UniqueUntil? = nil,
        timeout: Duration? = nil,
        retries: Int? = nil,
        backoff: RetryDelays? = nil,
        priority: Int? = nil
    ) throws(DescriptionError) -> OperationDescription {
        var filled = self
        filled.givenQueue = givenQueue ?? queue
        filled.name = self.name ?? name
        filled.givenPolicy = givenPolicy ?? unique
        filled.givenUniqueUntil = givenUniqueUntil ?? uniqueUntil
        filled.retries = self.retries ?? retries
        filled.givenPriority = givenPriority ?? priority
        if let timeout, timeoutMilliseconds == nil {
            filled.timeoutMilliseconds = try DescriptionRules.timeout(timeout)
        }
        if let backoff, backoffText == nil { filled.backoffText = try BackoffMembers(backoff).text() }
        try filled.validate()
        return filled
    }
}

extension OperationDescription {
    /// The same description with more that travels along beside the arguments; of a key that it has already, the new value
    /// counts.
    ///
    /// - Throws: ``DescriptionError`` when that makes it too large.
    public func adding(meta: [String: String]) throws(DescriptionError) -> OperationDescription {
        var more = self
        more.metaText = (metaText ?? .emptyObject).adding(meta)
        try more.validate()
        return more
    }

    /// The same description for another queue, or under another operation's name, which the caller has checked.
    package func moved(to queue: String?, as operation: String?) -> OperationDescription {
        var moved = self
        moved.givenQueue = queue ?? givenQueue
        moved.operation = operation ?? self.operation
        return moved
    }

    /// The description as that of a new job: its id is made on pushing.
    package func withoutID() -> OperationDescription {
        var new = self
        new.id = nil
        return new
    }
}
