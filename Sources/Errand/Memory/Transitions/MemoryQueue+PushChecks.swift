/// A checked job, as it was pushed. It never changes, so all copies of a queue share it.
final class MemoryPush: Sendable, Equatable {
    let id: String
    /// The unique name; `nil` if the policy takes none.
    let name: MemoryName?
    /// The name whose window the job begins or is dropped in.
    let throttledName: MemoryName?
    /// The window of the policy and the longest wait in it, in milliseconds; 0 if there is none.
    let window: Int64
    let atMost: Int64
    let header: MemoryHeader
    let due: Int64
    let envelope: [UInt8]

    init(_ envelope: JobEnvelope, _ header: MemoryHeader) {
        id = envelope.id
        let policy = envelope.policy
        name = policy.takesName ? envelope.name.map(MemoryName.init) : nil
        throttledName = policy == .throttle ? envelope.name.map(MemoryName.init) : nil
        window = envelope.window
        atMost = envelope.atMost
        self.header = header
        due = envelope.notBefore
        self.envelope = envelope.bytes
    }

    static func == (left: MemoryPush, right: MemoryPush) -> Bool {
        left === right
            || (left.id == right.id && left.due == right.due && left.envelope == right.envelope
                && left.window == right.window && left.atMost == right.atMost)
    }

    /// Makes the job of a push at this time.
    ///
    /// - Parameter readySince: Since when it is ready, if it takes the position of another one.
    func job(
        at now: Int64,
        readySince: Int64? = nil,
        place: MemoryJob.Place,
        _ debounce: MemoryDebounce? = nil
    ) -> MemoryJob {
        let expires = header.expiresIn.map { MemoryRules.later(now, by: $0) }
        return MemoryJob(
            push: self,
            expires: expires,
            readySince: readySince ?? now,
            place: place,
            debounce: debounce
        )
    }
}

extension MemoryQueue {
    /// Checks all jobs of a call before the first is added.
    static func checked(_ envelopes: [JobEnvelope]) throws(BrokerError) -> [MemoryPush] {
        var pushes: [MemoryPush] = []
        pushes.reserveCapacity(envelopes.count)
        for (index, envelope) in envelopes.enumerated() {
            guard let header = MemoryHeader(envelope: envelope.bytes), header.policy == envelope.policy,
                header.until == envelope.uniqueUntil
            else {
                throw refusal(index, "the envelope must begin with a header of version 1 or 2 and the same policy")
            }
            if let problem = problem(envelope) { throw refusal(index, problem) }
            pushes.append(MemoryPush(envelope, header))
        }
        return pushes
    }

    private static func refusal(_ index: Int, _ problem: String) -> BrokerError {
        BrokerError(.refused, "job \(index + 1): \(problem)")
    }

    private static func problem(_ envelope: JobEnvelope) -> String? {
        if !QueueName.isValid(jobID: envelope.id) { return "the id must match [A-Za-z0-9_-]{1,64}" }
        if !(0..<1_000_000_000_000_000).contains(envelope.notBefore) {
            return "the due time must be milliseconds since 1970"
        }
        if envelope.policy.needsName, envelope.name?.isEmpty ?? true {
            return "a job with another policy than ignore needs a name"
        }
        let windows = envelope.policy.hasWindow ? DescriptionLimits.timeoutMilliseconds : 0...0
        guard windows.contains(envelope.window),
            envelope.atMost == 0 || DescriptionLimits.timeoutMilliseconds.contains(envelope.atMost)
        else { return "a window goes with the policies throttle and debounce, and lasts 1 ms to 365 days" }
        if (envelope.name?.utf8.count ?? 0) > MemoryRules.nameBytes { return "the name is longer than 1024 bytes" }
        if envelope.bytes.count > MemoryRules.envelopeBytes { return "the envelope is longer than 1200000 bytes" }
        return nil
    }
}
