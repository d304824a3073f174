public import Errand

extension RedisBroker {
    /// Reads counts, totals and sessions in one script.
    public func status(of queue: String) async throws(BrokerError) -> (queue: QueueStatus, sessions: [SessionStatus]) {
        let answer = try await run(ScriptCall(.status, on: queue))
        guard let status = QueueStatus(answer, of: queue), let sessions = answer.elements?.last?.elements else {
            throw unexpected("a status")
        }
        return (status, sessions.compactMap { SessionStatus($0) })
    }
}
