public import Errand

extension RedisBroker {
    /// Reads counts, totals and sessions. Reads more than 500 sessions in parts, so that no other call waits long.
    public func status(of queue: String) async throws(BrokerError) -> (queue: QueueStatus, sessions: [SessionStatus]) {
        let answer = try await statusPart(of: queue, from: "0")
        guard var status = QueueStatus(answer, of: queue), var part = SessionsReply(answer) else {
            throw unexpected("a status")
        }
        var sessions = part.sessions
        var parts = 1
        while let next = part.next {
            // Each part has about 500 sessions: a real server does not return this many parts.
            parts += 1
            guard parts < 10_000, let more = SessionsReply(try await statusPart(of: queue, from: next)) else {
                throw unexpected("more of a status")
            }
            sessions += more.sessions
            part = more
        }
        var known: Set<String> = []
        sessions.removeAll { !known.insert($0.id).inserted }
        status.running = sessions.reduce(0) { $0.addingReportingOverflow($1.running).partialValue }
        status.executing = sessions.reduce(0) { $0.addingReportingOverflow($1.executing).partialValue }
        return (status, sessions)
    }

    private func statusPart(of queue: String, from cursor: String) async throws(BrokerError) -> RESPValue {
        var call = ScriptCall(.status, on: queue)
        call.add(cursor)
        return try await run(call)
    }
}
