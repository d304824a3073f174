package import Errand

extension ExchangeReply {
    /// Parses the exchange script's reply; `nil` if it is invalid.
    package init?(_ reply: RESPValue, reports: Int) {
        guard let parts = reply.elements, parts.count == 6 || parts.count == 7,
            let outcomes = parts[0].bytes,
            let ids = parts[2].elements, let bodies = parts[3].elements, ids.count == bodies.count,
            let extras = parts[4].elements, let flags = parts[5].number,
            outcomes.count == (flags & 8 != 0 ? 0 : reports)
        else { return nil }
        let token = parts[1].text.flatMap { Token($0) } ?? 0
        if token == 0, !ids.isEmpty { return nil }
        var failures: [Int: (failures: Int, crashes: Int)] = [:]
        for start in stride(from: 0, to: extras.count - 2, by: 3) {
            guard let position = extras[start].number, let failed = extras[start + 1].number,
                let crashed = extras[start + 2].number
            else { return nil }
            // Positions are not negative; subtracting from the smallest number would trap.
            guard position > 0 else { return nil }
            failures[Int(clamping: position) - 1] = (Int(clamping: max(0, failed)), Int(clamping: max(0, crashed)))
        }
        var claims: [Claim] = []
        claims.reserveCapacity(ids.count)
        for (index, (id, body)) in zip(ids, bodies).enumerated() {
            guard let id = id.text, let body = body.bytes else { return nil }
            let counts = failures.isEmpty ? nil : failures[index]
            // A corrupt, enormous count must not overflow.
            let attempt = min(counts?.failures ?? 0, 1_000_000) + 1
            claims.append(Claim(id: id, token: token, attempt: attempt, crashes: counts?.crashes ?? 0, body: body))
        }
        self.init(
            accepted: outcomes.map { $0 == UInt8(ascii: "1") },
            claims: claims,
            hasDueJobs: flags & 1 != 0,
            isPaused: flags & 2 != 0,
            hasMore: flags & 4 != 0,
            isPreanswered: flags & 8 != 0,
            awaitsFreeSlot: flags & 16 != 0,
            needsPromotion: flags & 32 != 0,
            expired: parts.count == 7 ? Self.expired(parts[6].elements ?? []) : []
        )
    }

    private static func expired(_ values: [RESPValue]) -> [ExpiredJob] {
        stride(from: 0, to: values.count - 1, by: 2).compactMap { position in
            guard let id = values[position].text, let fragment = values[position + 1].bytes else { return nil }
            return ExpiredJob(id: id, operation: EventFragment.operation(in: fragment))
        }
    }
}
