package import Errand

extension Recovery {
    /// Parses the recovery script's reply; `nil` if it is invalid.
    package init?(_ reply: RESPValue) {
        guard let parts = reply.elements, parts.count >= 2, let count = parts[0].number, let more = parts[1].number
        else { return nil }
        let events = parts.dropFirst(2).compactMap { $0.bytes.flatMap { JobEvent(line: Array($0)) } }
        self.init(recovered: Int(clamping: max(0, count)), hasMore: more == 1, events: events)
    }
}

extension Reconciliation {
    /// Parses the reconciliation script's reply; `nil` if it is invalid.
    package init?(_ reply: RESPValue) {
        guard let parts = reply.elements, let count = parts.first?.number else { return nil }
        let lost = parts.dropFirst().compactMap(\.text)
        guard lost.count == parts.count - 1 else { return nil }
        self.init(released: Int(clamping: max(0, count)), lost: lost)
    }
}

extension Promotion {
    /// Parses the promotion script's reply; `nil` if it is invalid.
    package init?(_ reply: RESPValue) {
        guard let parts = reply.elements, parts.count == 4, let count = parts[0].number, let next = parts[1].number,
            let due = parts[2].number
        else { return nil }
        self.init(
            promoted: Int(clamping: max(0, count)),
            nextDue: next < 0 ? nil : Int(clamping: next),
            hasDueSchedules: due == 1
        )
    }
}

extension Beat {
    /// Parses the heartbeat script's reply; `nil` if it is invalid. An invalid stop is omitted: the next heartbeat
    /// repeats it.
    package init?(_ reply: RESPValue) {
        guard let parts = reply.elements, let claims = parts.first?.number else { return nil }
        var stops: [Stop] = []
        for start in stride(from: 1, to: parts.count - 1, by: 2) {
            guard let id = parts[start].text, let token = parts[start + 1].text.flatMap({ Token($0) }) else { continue }
            stops.append(Stop(id: id, token: token))
        }
        self.init(claims: Int(clamping: max(0, claims)), stops: stops)
    }
}
