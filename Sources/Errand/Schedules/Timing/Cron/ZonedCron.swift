/// A cron expression in a time zone: which moments it means, in seconds since 1970 UTC.
///
/// An expression of fixed hours happens once for each of its local times: at the jump where the clocks skip it, the
/// first time where it comes twice. One of every hour follows real time: it happens whenever the clocks show it.
struct ZonedCron: Sendable, Equatable {
    let text: String
    let expression: CronExpression
    let zone: ScheduleZone

    init(_ text: String, _ zone: ScheduleZone) throws(ScheduleError) {
        self.text = text
        self.zone = zone
        expression = try CronParser.parse(text)
    }

    /// The first moment after this one.
    func next(after seconds: Int64) -> Int64? {
        expression.isOfEveryHour ? nextInRealTime(from: seconds + 1) : nextOfFixedHours(after: seconds)
    }

    /// The last moment up to this one.
    func latest(atOrBefore seconds: Int64) -> Int64? {
        expression.isOfEveryHour ? latestInRealTime(upTo: seconds) : latestOfFixedHours(upTo: seconds)
    }
}

/// Fixed hours: the moment of a local time never goes back while local time goes forward, so the search may go by local
/// time.
extension ZonedCron {
    private func moment(of local: Int64) -> Int64 {
        switch zone.moment(of: local) {
        case .once(let moment), .twice(let moment, _), .skipped(let moment): moment
        }
    }

    private func nextOfFixedHours(after seconds: Int64) -> Int64? {
        let shown = seconds + zone.offset(at: seconds)
        guard let local = expression.local(atOrAfter: shown + 1) else { return nil }
        let found = moment(of: local)
        guard found <= seconds else { return found }
        // The clocks show for the second time what has been: go on where they show something new.
        let fresh = endOfRepetition(first: found, second: seconds)
        return expression.local(atOrAfter: fresh).map(moment)
    }

    private func latestOfFixedHours(upTo seconds: Int64) -> Int64? {
        let shown = seconds + zone.offset(at: seconds)
        let first = moment(of: shown)
        let newest = first < seconds ? endOfRepetition(first: first, second: seconds) - 1 : shown
        return expression.local(atOrBefore: newest).map(moment)
    }

    /// What the clocks showed when they were set back between two moments: from there on local times are new.
    private func endOfRepetition(first: Int64, second: Int64) -> Int64 {
        zone.change(after: first, upTo: second) + zone.offset(at: first)
    }
}

/// Every hour: real time in pieces between changes of the clocks.
extension ZonedCron {
    /// Farther away, a repeated hour cannot matter: all local times on the way were looked at.
    private static let near: Int64 = 36 * 3600
    private static let mostPieces = 64

    private func nextInRealTime(from start: Int64) -> Int64? {
        var start = start
        for _ in 0..<Self.mostPieces {
            let offset = zone.offset(at: start)
            guard let local = expression.local(atOrAfter: start + offset) else { return nil }
            let horizon = min(local - offset, start + Self.near)
            if zone.offset(at: horizon) != offset {
                start = zone.change(after: start, upTo: horizon)
                continue
            }
            if horizon == local - offset { return horizon }
            switch zone.moment(of: local) {
            case .once(let moment), .twice(let moment, _): return moment
            case .skipped(let jump): start = jump
            }
        }
        return nil
    }

    private func latestInRealTime(upTo end: Int64) -> Int64? {
        var end = end
        for _ in 0..<Self.mostPieces {
            let offset = zone.offset(at: end)
            guard let local = expression.local(atOrBefore: end + offset) else { return nil }
            let horizon = max(local - offset, end - Self.near)
            if zone.offset(at: horizon) != offset {
                end = zone.change(after: horizon, upTo: end) - 1
                continue
            }
            if horizon == local - offset { return horizon }
            switch zone.moment(of: local) {
            case .once(let moment), .twice(_, let moment): return moment
            case .skipped(let jump): end = jump - 1
            }
        }
        return nil
    }
}
