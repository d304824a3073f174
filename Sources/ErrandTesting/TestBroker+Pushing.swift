public import Errand

extension TestBroker {
    /// Pushes jobs, unless an injected fault prevents it.
    public func push(_ jobs: [JobEnvelope], to queue: String) async throws(BrokerError) -> [Receipt] {
        let failure = takeFault { if case .pushFails(let error) = $0 { error } else { nil } }
        if let failure { throw failure }
        let receipts = try await memory.push(jobs, to: queue)
        gate.noteWork(in: queue)
        let isLost = takeFault { if case .pushAnswerLost = $0 { true } else { nil } } ?? false
        return isLost ? jobs.map { Receipt(id: $0.id, queue: queue, outcome: .unknown) } : receipts
    }

    /// Returns the time of the test's clock, in milliseconds since 1970 UTC.
    public func now(on queue: String) async throws(BrokerError) -> Int64 { clock.nowMilliseconds }
}
