/// The rates and rests of groups, by the generic cell rate algorithm (GCRA).
///
/// A group has a theoretical arrival time. Each start moves it by the interval between two starts, and it may be ahead of
/// the clock by the interval times the burst.
package struct MemoryRates: Sendable, Equatable {
    /// The theoretical arrival times of groups with a rate, in microseconds.
    package private(set) var times: [String: Int64] = [:]
    /// The latest start that found a group less than an interval ahead of the clock, in milliseconds.
    package private(set) var freshStarts: [String: Int64] = [:]
    /// Until when a handler lets a group rest, in microseconds.
    private var rests: [String: Int64] = [:]
    /// The groups that are held back until a time, in milliseconds.
    package private(set) var resting: [String: Int64] = [:]
    /// Whether this transition has noted a group that may run before the other ones that rest.
    package private(set) var beginsEarlier = false
    /// Whether this transition has changed the times.
    private var hasChanged = false
    /// When all times will have passed, and are forgotten, in milliseconds.
    private var expiry = Int64.max

    /// The time until which a group may not start jobs, in milliseconds, and whether its rate is the reason; `nil` if it
    /// may.
    func rest(of group: String, _ rule: FlowRule, at now: Int64) -> (ends: Int64, isByRate: Bool)? {
        let byRate = rule.rate.map { (times[group] ?? 0) - ($0.burst64 - 1) * $0.interval } ?? 0
        let rest = rests[group] ?? 0
        let ends = max(byRate, rest, 0).dividedUp(by: 1000)
        return ends > now ? (ends, byRate > rest) : nil
    }

    /// How many jobs of a group with this rule may start now.
    func free(_ group: String, _ rule: FlowRule, at now: Int64) -> Int {
        guard rest(of: group, rule, at: now) == nil else { return 0 }
        guard let rate = rule.rate else { return 1000 }
        let ahead = max((times[group] ?? 0) - now.thousandfold, 0).dividedUp(by: rate.interval)
        return Int(clamping: max(1, rate.burst64 - ahead))
    }

    mutating func start(_ group: String, _ count: Int, _ rule: FlowRule, at now: Int64) {
        guard let rate = rule.rate, count > 0 else { return }
        let time = times[group] ?? 0
        if time - rate.interval < now.thousandfold { freshStarts[group] = now }
        hasChanged = true
        times[group] = MemoryRules.later(max(time, now.thousandfold), by: Int64(count) * rate.interval)
    }

    /// Takes back a start. Only while the group has been busy since then is it certain that its later starts did not use
    /// that one's time.
    mutating func refund(_ group: String, startedAt start: Int64, _ rule: FlowRule, at now: Int64) {
        guard let rate = rule.rate, let time = times[group], time > now.thousandfold, start >= freshStarts[group] ?? 0
        else {
            return
        }
        times[group] = time - rate.interval
    }

    mutating func rest(_ group: String, until ends: Int64) {
        hasChanged = true
        rests[group] = max(rests[group] ?? 0, ends.thousandfold)
        note(group, until: ends)
    }

    /// No rule lets a group be further ahead of the clock than by its burst: the rule was another one before, or the clock
    /// was set back.
    mutating func limit(_ group: String, _ rule: FlowRule, at now: Int64) {
        guard let rate = rule.rate, let time = times[group] else { return }
        let most = MemoryRules.later(now.thousandfold, by: rate.burst64 * rate.interval)
        guard time > most else { return }
        times[group] = most
    }

    mutating func note(_ group: String, until ends: Int64) {
        if resting.values.min() ?? .max > ends { beginsEarlier = true }
        resting[group] = ends
    }

    /// Returns the groups whose rest is over, which are no longer noted.
    mutating func takeRested(at now: Int64) -> [String] {
        let over = resting.filter { $0.value <= now }.sorted { ($0.value, $0.key) < ($1.value, $1.key) }.map(\.key)
        for group in over { resting[group] = nil }
        return over
    }

    mutating func beginTransition(at now: Int64) {
        (beginsEarlier, hasChanged) = (false, false)
        if now >= expiry { (times, rests, freshStarts, expiry) = ([:], [:], [:], .max) }
    }

    /// Forgets what has passed, if anything has changed.
    mutating func endTransition(at now: Int64) {
        guard hasChanged else { return }
        times = times.filter { $0.value > now.thousandfold }
        rests = rests.filter { $0.value > now.thousandfold }
        freshStarts = freshStarts.filter { times[$0.key] != nil }
        expiry = max(times.values.max() ?? 0, rests.values.max() ?? 0).dividedUp(by: 1000)
        if expiry == 0 { expiry = .max }
    }
}

extension FlowRate {
    /// The time between two starts in microseconds.
    var interval: Int64 {
        max(1, Int64(per.wholeMilliseconds).thousandfold.dividedUp(by: Int64(max(starts, 1))))
    }

    fileprivate var burst64: Int64 { Int64(burst) }
}

extension Int64 {
    /// Milliseconds in microseconds.
    fileprivate var thousandfold: Int64 {
        let (product, overflow) = multipliedReportingOverflow(by: 1000)
        return overflow ? .max : product
    }

    fileprivate func dividedUp(by divisor: Int64) -> Int64 {
        let (quotient, rest) = quotientAndRemainder(dividingBy: divisor)
        return rest > 0 ? quotient + 1 : quotient
    }
}
