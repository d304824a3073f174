extension OperationDescription {
    /// Makes a description from values, which are checked. A catalogue, the producer or the worker completes missing
    /// ones.
    ///
    /// - Parameters:
    ///   - operation: The kind of work: 1 to 128 characters of `A-Z a-z 0-9 _ . -`.
    ///   - arguments: The operation's arguments, at most 1 MiB of JSON: a literal, or another ``JSONText``.
    ///   - queue: The queue, named like an operation; "default" if `nil`.
    ///   - name: The name for uniqueness, 1 to 1,024 bytes; operation and arguments if `nil`.
    ///   - unique: What happens if another job holds the name; `ignore` if `nil`.
    ///   - uniqueUntil: How long the job holds its name; until it has finished if `nil`.
    ///   - window: The window of the policies `throttle` and `debounce`, 1 ms to 365 days, rounded up to milliseconds.
    ///   - atMost: How long a debounced job waits at most while newer ones come, like the window.
    ///   - timeout: How long a run may take, 1 ms to 365 days, rounded up to whole milliseconds.
    ///   - notBefore: The earliest time to run, in milliseconds since 1970 UTC, up to 9,999,999,999,999; numbers of 10
    ///     to 12 digits are rejected, because they are times in seconds.
    ///   - expiresIn: How long after the push the job expires unless a worker has claimed it, 1 ms to 365 days.
    ///   - retries: The number of retries after a failed run, 0 to 1,000.
    ///   - backoff: The delay before each retry: a base of 1 ms to 365 days, a longest delay from the base to 365 days,
    ///     a jitter of 0 to 1.
    ///   - priority: 0 to 9; jobs with higher numbers run first. 5 if `nil`.
    ///   - group: The group, whose limits and share of the workers the job has, such as `tenant-7` or `tenant-7/user-3`.
    ///   - cost: What the job is charged in its group's share, 1 to 1,000,000; 1 if `nil`.
    ///   - id: The job's id, 1 to 64 characters of `A-Z a-z 0-9 _ -`; if `nil`, the push makes one.
    ///   - tags: Words by which operators find the job: at most 8 of 1 to 64 bytes each.
    ///   - meta: Additional data that is stored with the arguments.
    /// - Throws: ``DescriptionError`` for the first invalid value.
    public init(
        _ operation: String,
        arguments: JSONText = .emptyObject,
        queue: String? = nil,
        name: String? = nil,
        unique: UniquenessPolicy? = nil,
        uniqueUntil: UniqueUntil? = nil,
        window: Duration? = nil,
        atMost: Duration? = nil,
        timeout: Duration? = nil,
        notBefore: Int64? = nil,
        expiresIn: Duration? = nil,
        retries: Int? = nil,
        backoff: RetryDelays? = nil,
        priority: Int? = nil,
        group: String? = nil,
        cost: Int? = nil,
        id: String? = nil,
        tags: [String] = [],
        meta: [String: String] = [:]
    ) throws(DescriptionError) {
        self.init(unchecked: operation)
        self.arguments = arguments
        self.name = name
        self.notBefore = notBefore
        self.retries = retries
        self.group = group
        self.cost = cost
        self.id = id
        self.tags = tags
        givenQueue = queue
        givenPolicy = unique
        givenUniqueUntil = uniqueUntil
        givenPriority = priority
        windowMilliseconds = try DescriptionRules.milliseconds(window, .window)
        atMostMilliseconds = try DescriptionRules.milliseconds(atMost, .atMost)
        timeoutMilliseconds = try DescriptionRules.milliseconds(timeout, .timeout)
        expiresMilliseconds = try DescriptionRules.milliseconds(expiresIn, .expires)
        backoffText = try backoff.map { delays throws(DescriptionError) in try BackoffMembers(delays).text() }
        metaText = meta.isEmpty ? nil : JSONText(strings: meta)
        try validate()
    }

    /// Makes a description whose arguments are encoded from a value, with sorted keys.
    ///
    /// The other parameters are those of
    /// ``init(_:arguments:queue:name:unique:uniqueUntil:window:atMost:timeout:notBefore:expiresIn:retries:backoff:priority:group:cost:id:tags:meta:)``.
    ///
    /// - Throws: ``DescriptionError`` for the first invalid value, or if the arguments cannot be encoded as JSON.
    public init(
        _ operation: String,
        encoding arguments: some Encodable,
        queue: String? = nil,
        name: String? = nil,
        unique: UniquenessPolicy? = nil,
        uniqueUntil: UniqueUntil? = nil,
        window: Duration? = nil,
        atMost: Duration? = nil,
        timeout: Duration? = nil,
        notBefore: Int64? = nil,
        expiresIn: Duration? = nil,
        retries: Int? = nil,
        backoff: RetryDelays? = nil,
        priority: Int? = nil,
        group: String? = nil,
        cost: Int? = nil,
        id: String? = nil,
        tags: [String] = [],
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
            window: window,
            atMost: atMost,
            timeout: timeout,
            notBefore: notBefore,
            expiresIn: expiresIn,
            retries: retries,
            backoff: backoff,
            priority: priority,
            group: group,
            cost: cost,
            id: id,
            tags: tags,
            meta: meta
        )
    }

    /// Returns the description with these values in place of missing ones.
    ///
    /// Catalogues and producers use it for their defaults. Values of the description itself take precedence.
    ///
    /// - Throws: ``DescriptionError`` if a value that is used is invalid.
    public func filling(
        queue: String? = nil,
        name: String? = nil,
        unique: UniquenessPolicy? = nil,
        uniqueUntil: UniqueUntil? = nil,
        window: Duration? = nil,
        atMost: Duration? = nil,
        timeout: Duration? = nil,
        expiresIn: Duration? = nil,
        retries: Int? = nil,
        backoff: RetryDelays? = nil,
        priority: Int? = nil,
        group: String? = nil,
        cost: Int? = nil
    ) throws(DescriptionError) -> OperationDescription {
        var filled = self
        filled.givenQueue = givenQueue ?? queue
        filled.name = self.name ?? name
        filled.givenPolicy = givenPolicy ?? unique
        filled.givenUniqueUntil = givenUniqueUntil ?? uniqueUntil
        filled.retries = self.retries ?? retries
        filled.givenPriority = givenPriority ?? priority
        filled.group = self.group ?? group
        filled.cost = self.cost ?? cost
        filled.windowMilliseconds =
            try windowMilliseconds == nil ? DescriptionRules.milliseconds(window, .window) : windowMilliseconds
        filled.atMostMilliseconds =
            try atMostMilliseconds == nil ? DescriptionRules.milliseconds(atMost, .atMost) : atMostMilliseconds
        filled.timeoutMilliseconds =
            try timeoutMilliseconds == nil ? DescriptionRules.milliseconds(timeout, .timeout) : timeoutMilliseconds
        filled.expiresMilliseconds =
            try expiresMilliseconds == nil
            ? DescriptionRules.milliseconds(expiresIn, .expires) : expiresMilliseconds
        if let backoff, backoffText == nil { filled.backoffText = try BackoffMembers(backoff).text() }
        try filled.validate()
        return filled
    }
}

extension OperationDescription {
    /// Returns the description with additional data beside the arguments. A new value replaces an old one of the same
    /// key.
    ///
    /// - Throws: ``DescriptionError`` if that makes the description too large.
    public func adding(meta: [String: String]) throws(DescriptionError) -> OperationDescription {
        var more = self
        more.metaText = (metaText ?? .emptyObject).adding(meta)
        try more.validate()
        return more
    }

    /// Returns the description for another queue or operation, whose names the caller has checked.
    package func moved(to queue: String?, as operation: String?) -> OperationDescription {
        var moved = self
        moved.givenQueue = queue ?? givenQueue
        moved.operation = operation ?? self.operation
        return moved
    }

    /// Returns the description of a new job: without an id, so that the push makes one, and outside of any workflow.
    package func withoutID() -> OperationDescription {
        var new = withoutWorkflow()
        new.id = nil
        return new
    }

    /// Returns the description of a job outside of any workflow.
    package func withoutWorkflow() -> OperationDescription {
        var plain = self
        plain.workflow = nil
        return plain
    }
}
