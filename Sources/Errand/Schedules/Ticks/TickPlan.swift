/// Which ticks of a schedule are to be pushed now, and which are skipped.
struct TickPlan: Equatable {
    /// To be pushed, ascending.
    var ticks: [Int64]
    /// The next tick from now on; `nil` when there is none before the year 2286.
    var next: Int64?
    /// How many are skipped; counted up to a bound.
    var missed: Int

    /// A tick that is not more than so late was not missed: 10 s.
    static let longestDelay: Int64 = 10_000
    /// Skipped ticks are counted up to this.
    static let mostMissed = 1000
}

extension Schedule {
    /// The plan for a schedule whose next tick was to be `expected`, at the broker's time `now`.
    ///
    /// The work is bounded however long ago that is: ticks that are skipped are not walked through.
    func plan(expected: Int64, now: Int64) -> TickPlan {
        // Both come from the broker, whose keys others may have written to.
        let (expected, now) = (ScheduleTiming.clamped(expected), ScheduleTiming.clamped(now))
        let edge = max(expected, now > TickPlan.longestDelay ? now - TickPlan.longestDelay : 0)
        // Intervals are at least a second, so these are few.
        let timely = newest(20, from: edge, upTo: now)
        let caughtUp = edge > expected ? newest(mostCaughtUp, from: expected, upTo: edge - 1) : []
        let ticks = caughtUp + timely
        return TickPlan(
            ticks: ticks,
            next: timing.next(after: now),
            missed: edge > expected ? count(from: expected, before: ticks.first ?? now + 1) : 0
        )
    }

    private var mostCaughtUp: Int {
        switch catchUp {
        case .none: 0
        case .latest: 1
        case .all(let limit): limit
        }
    }

    private func newest(_ most: Int, from first: Int64, upTo last: Int64) -> [Int64] {
        var found: [Int64] = []
        var time = last
        while found.count < most, let tick = timing.latest(atOrBefore: time), tick >= first {
            found.append(tick)
            time = tick - 1
        }
        return found.reversed()
    }

    private func count(from first: Int64, before end: Int64) -> Int {
        var (count, time) = (0, first - 1)
        while count < TickPlan.mostMissed, let tick = timing.next(after: time), tick < end {
            count += 1
            time = tick
        }
        return count
    }
}
