/// A checked job that is not in the queue yet.
struct MemoryPush {
    let id: String
    let name: MemoryName?
    let header: MemoryHeader
    let due: Int64
    let envelope: [UInt8]

    func job(readySince: Int64, place: MemoryJob.Place) -> MemoryJob {
        MemoryJob(id: id, name: name, envelope: envelope, header: header, readySince: readySince, place: place)
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
                throw refusal(index, "the envelope must begin with a header of version 1 and the same policy")
            }
            if let problem = problem(envelope) { throw refusal(index, problem) }
            pushes.append(
                MemoryPush(
                    id: envelope.id,
                    name: envelope.policy == .ignore ? nil : envelope.name.map(MemoryName.init),
                    header: header,
                    due: envelope.notBefore,
                    envelope: envelope.bytes
                )
            )
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
        if envelope.policy != .ignore, envelope.name?.isEmpty ?? true {
            return "a job with the policy drop or replace needs a name"
        }
        if (envelope.name?.utf8.count ?? 0) > MemoryRules.nameBytes { return "the name is longer than 1024 bytes" }
        if envelope.bytes.count > MemoryRules.envelopeBytes { return "the envelope is longer than 1200000 bytes" }
        return nil
    }
}
