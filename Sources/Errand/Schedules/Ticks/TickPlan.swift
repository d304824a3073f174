/// The ticks of a schedule that are pushed now, and those that are skipped.
struct TickPlan: Equatable {
    /// The ticks to push, ascending.
    var ticks: [Int64]
    /// The next tick after now; `nil` if there is none before the year 2286.
    var next: Int64?
    /// The number of skipped ticks, counted up to a limit.
    var missed: Int

    /// The delay up to which a tick is not missed: 10 s.
    static let longestDelay: Int64 = 10_000
    /// The limit up to which skipped ticks are counted.
    static let mostMissed = 1000
}

extension Schedule {
    /// Returns the plan for a schedule whose next tick is `expected`, at the broker's time `now`.
    ///
    /// The work is limited however long ago `expected` is, because it does not compute every skipped tick.
    func plan(expected: Int64, now: Int64) -> TickPlan {
        // Both come from the broker, whose keys other programs may have written to.
        let (expected, now) = (ScheduleTiming.clamped(expected), ScheduleTiming.clamped(now))
        let edge = max(expected, now > TickPlan.longestDelay ? now - TickPlan.longestDelay : 0)
        // Intervals are at least a second, so there are few of these.
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
