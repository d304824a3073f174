package import Errand

/// A period that charts and tables of statistics show, up to now.
package enum StatisticsPeriod: String, Sendable, CaseIterable {
    case quarter = "15m"
    case hour = "1h"
    case day = "24h"
    case week = "7d"

    /// The length of the buckets that it is read in.
    package var resolution: StatisticsResolution {
        switch self {
        case .quarter, .hour: .minutes
        case .day: .tenMinutes
        case .week: .hours
        }
    }

    /// Its length in milliseconds.
    package var milliseconds: Int64 {
        switch self {
        case .quarter: 900_000
        case .hour: 3_600_000
        case .day: 86_400_000
        case .week: 604_800_000
        }
    }

    /// Its name for people.
    package var words: String {
        switch self {
        case .quarter: "15 min"
        case .hour: "1 h"
        case .day: "24 h"
        case .week: "7 days"
        }
    }
}

extension ConsoleBroker {
    /// Reads a queue's statistics of a period that ends now.
    ///
    /// - Parameter now: The present time, in milliseconds since 1970 UTC. If it differs from the broker's by more than a
    ///   bucket, the newest buckets may be missing.
    package func statistics(
        of queue: String,
        _ period: StatisticsPeriod,
        now: Int64,
        withRuns: Bool
    ) async throws(BrokerError) -> QueueStatistics {
        // The bucket before the period has the sample to which the first rate refers, and the broker's clock may be
        // ahead.
        let (from, to) = (now - period.milliseconds + period.resolution.step, now + period.resolution.step / 2)
        return try await statistics(of: queue, period.resolution, from: from, to: to, withRuns: withRuns)
    }
}
