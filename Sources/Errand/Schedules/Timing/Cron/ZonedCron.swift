/// A cron expression in a time zone, which matches moments in seconds since 1970 UTC.
///
/// An expression of fixed hours matches once for each of its local times: at the jump if the clocks skip it, and the
/// first time if it occurs twice. An expression of every hour follows real time: it matches whenever the clocks show
/// it.
struct ZonedCron: Sendable, Equatable {
    let text: String
    let expression: CronExpression
    let zone: ScheduleZone

    init(_ text: String, _ zone: ScheduleZone) throws(ScheduleError) {
        self.text = text
        self.zone = zone
        expression = try CronParser.parse(text)
    }

    /// Returns the first moment after `seconds`.
    func next(after seconds: Int64) -> Int64? {
        expression.isOfEveryHour ? nextInRealTime(from: seconds + 1) : nextOfFixedHours(after: seconds)
    }

    /// Returns the last moment up to `seconds`.
    func latest(atOrBefore seconds: Int64) -> Int64? {
        expression.isOfEveryHour ? latestInRealTime(upTo: seconds) : latestOfFixedHours(upTo: seconds)
    }
}

/// Fixed hours: as local time advances, so do the moments of local times, and the search can use local time.
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
        // The clocks repeat past local times: the search continues after them.
        let fresh = endOfRepetition(first: found, second: seconds)
        return expression.local(atOrAfter: fresh).map(moment)
    }

    private func latestOfFixedHours(upTo seconds: Int64) -> Int64? {
        let shown = seconds + zone.offset(at: seconds)
        let first = moment(of: shown)
        let newest = first < seconds ? endOfRepetition(first: first, second: seconds) - 1 : shown
        return expression.local(atOrBefore: newest).map(moment)
    }

    /// Returns the local time at which the clocks were set back between two moments. Later local times are new.
    private func endOfRepetition(first: Int64, second: Int64) -> Int64 {
        zone.change(after: first, upTo: second) + zone.offset(at: first)
    }
}

/// Every hour: real time in segments between changes of the clocks.
extension ZonedCron {
    /// The distance after which a repeated hour does not matter, because all local times in between were checked.
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
