public import Errand

extension RedisBroker {
    /// Reads counts, totals and sessions in one script.
    public func status(of queue: String) async throws(BrokerError) -> (queue: QueueStatus, sessions: [SessionStatus]) {
        let answer = try await run(ScriptCall(.status, on: queue)).elements ?? []
        guard answer.count == 4 else { throw unexpected("a status") }
        let counts = answer[0].counts
        let status = QueueStatus(
            name: queue,
            isPaused: counts["paused"] == 1,
            ready: counts["ready"] ?? 0,
            scheduled: counts["scheduled"] ?? 0,
            running: counts["running"] ?? 0,
            retrying: counts["retrying"] ?? 0,
            dead: counts["dead"] ?? 0,
            deferred: counts["deferred"] ?? 0,
            oldestReadyMilliseconds: counts["oldest"] ?? 0,
            unknownOperations: answer[1].counts,
            totals: QueueStatus.Totals(counts: answer[2].counts)
        )
        return (status, (answer[3].elements ?? []).compactMap { SessionStatus($0) })
    }
}

extension RESPValue {
    /// A flat list of names and numbers.
    fileprivate var counts: [String: Int] {
        var counts: [String: Int] = [:]
        let parts = elements ?? []
        for start in stride(from: 0, to: parts.count - 1, by: 2) {
            guard let name = parts[start].text, let number = parts[start + 1].number else { continue }
            counts[name] = Int(clamping: number)
        }
        return counts
    }
}

extension SessionStatus {
    fileprivate init?(_ value: RESPValue) {
        guard let parts = value.elements, parts.count >= 6, let id = parts[0].text else { return nil }
        func number(_ index: Int) -> Int { Int(clamping: parts[index].number ?? 0) }
        self.init(
            id: id,
            host: parts[1].text ?? "",
            pid: number(2),
            running: number(3),
            concurrency: number(4),
            lastBeatMilliseconds: number(5),
            operations: parts.dropFirst(6).compactMap(\.text)
        )
    }
}
