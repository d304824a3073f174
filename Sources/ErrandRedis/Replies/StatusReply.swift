package import Errand

extension QueueStatus {
    /// Parses the status script's reply except for the sessions and their claims; `nil` if it is invalid.
    package init?(_ reply: RESPValue, of queue: String) {
        guard let parts = reply.elements, parts.count == 5 else { return nil }
        let counts = parts[0].counts
        self.init(
            name: queue,
            isPaused: counts["paused"] == 1,
            ready: counts["ready"] ?? 0,
            scheduled: counts["scheduled"] ?? 0,
            running: 0,
            retrying: counts["retrying"] ?? 0,
            dead: counts["dead"] ?? 0,
            deferred: counts["deferred"] ?? 0,
            blocked: counts["blocked"] ?? 0,
            oldestReadyMilliseconds: counts["oldest"] ?? 0,
            oldestUnroutableMilliseconds: counts["oldest_unroutable"] ?? 0,
            unknownOperations: parts[1].counts.byOperation,
            totals: Totals(counts: parts[2].counts)
        )
    }
}

extension RESPValue {
    /// A flat list of names and numbers, as a dictionary.
    fileprivate var counts: [String: Int] {
        var counts: [String: Int] = [:]
        let parts = elements ?? []
        for start in stride(from: 0, to: parts.count - 1, by: 2) {
            guard let name = parts[start].text, let number = parts[start + 1].number else { continue }
            counts[name] = Int(clamping: max(0, number))
        }
        return counts
    }
}

/// The sessions in the status script's reply, and the position of the next ones.
package struct SessionsReply {
    package let sessions: [SessionStatus]
    /// The cursor for the next call; `nil` if these were the last sessions.
    package let next: String?

    /// Parses a reply; `nil` if it is invalid.
    package init?(_ reply: RESPValue) {
        guard let parts = reply.elements, parts.count == 5, let sessions = parts[3].elements, let next = parts[4].text
        else { return nil }
        self.sessions = sessions.compactMap { SessionStatus($0) }
        self.next = next == "0" ? nil : next
    }
}

extension [String: Int] {
    /// Sums the counts of unroutable jobs, with keys `operation` or `operation:priority`, by operation.
    fileprivate var byOperation: Self {
        reduce(into: [:]) { sums, lot in
            let operation = String(lot.key.prefix { $0 != ":" })
            sums[operation] = sums[operation, default: 0].addingReportingOverflow(lot.value).partialValue
        }
    }
}

extension SessionStatus {
    /// Parses one session of the status script's reply; `nil` if it is invalid.
    package init?(_ value: RESPValue) {
        guard let parts = value.elements, parts.count >= 9, let id = parts[0].text else { return nil }
        func number(_ index: Int) -> Int { Int(clamping: parts[index].number ?? 0) }
        let operations = parts.dropFirst(9).compactMap(\.text).map { $0.split(separator: ":", maxSplits: 1) }
        self.init(
            id: id,
            host: parts[1].text ?? "",
            pid: number(2),
            running: number(3),
            executing: number(6),
            concurrency: number(4),
            lastBeatMilliseconds: number(5),
            operations: operations.compactMap { $0.first.map(String.init) },
            retries: operations.reduce(into: [:]) { retries, parts in
                if parts.count == 2, let number = Int(parts[1]) { retries[String(parts[0])] = number }
            },
            startedAt: parts[7].number.flatMap { $0 > 0 ? $0 : nil },
            version: parts[8].text.flatMap { $0.isEmpty ? nil : $0 }
        )
    }
}
