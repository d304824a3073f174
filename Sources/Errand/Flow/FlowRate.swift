import ErrandText

/// How many jobs of a group may start in a time; see ``FlowRule/rate``.
///
/// A *start* is the claim of a job, by the server's clock. In any window, of whatever length, no more jobs start than
/// `starts` for each `per` of its length, and `burst` more. The generic cell rate algorithm (GCRA), known from networks,
/// makes sure of it.
public struct FlowRate: Sendable, Equatable {
    /// The number of starts, 1 to 1,000,000.
    public var starts: Int
    /// The time in which they may happen, 1 ms to 30 days. `per / starts`, the mean interval of starts, is rounded up to
    /// microseconds.
    public var per: Duration
    /// How many jobs may start at once after a pause, 1 to 1,000,000.
    public var burst: Int

    /// Makes a rate.
    public init(_ starts: Int, per: Duration, burst: Int = 1) {
        self.starts = starts
        self.per = per
        self.burst = burst
    }

    /// A rate of so many starts a second.
    public static func perSecond(_ starts: Int, burst: Int = 1) -> FlowRate {
        FlowRate(starts, per: .seconds(1), burst: burst)
    }

    /// A rate of so many starts a minute.
    public static func perMinute(_ starts: Int, burst: Int = 1) -> FlowRate {
        FlowRate(starts, per: .seconds(60), burst: burst)
    }

    static let limits = 1...1_000_000
    static let windows = 1...2_592_000_000

    func check() throws(BrokerError) {
        guard Self.limits.contains(starts), Self.windows.contains(per.wholeMilliseconds) else {
            throw BrokerError(.refused, "a rate must be 1 to 1000000 starts in 1 ms to 30 days")
        }
        guard Self.limits.contains(burst) else {
            throw BrokerError(.refused, "the burst of a rule must be 1 to 1000000")
        }
    }
}
