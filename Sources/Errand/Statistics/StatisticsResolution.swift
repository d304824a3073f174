/// The lengths of the buckets in which a broker keeps statistics: short ones for hours, long ones for days.
public enum StatisticsResolution: String, Sendable, CaseIterable {
    /// Buckets of a minute, kept for about 3 hours.
    case minutes
    /// Buckets of ten minutes, kept for about 2 days.
    case tenMinutes = "ten_minutes"
    /// Buckets of an hour, kept for about 9 days.
    case hours

    /// The length of a bucket in milliseconds.
    public var step: Int64 {
        switch self {
        case .minutes: 60_000
        case .tenMinutes: 600_000
        case .hours: 3_600_000
        }
    }

    /// How many buckets are kept at least.
    public var kept: Int {
        switch self {
        case .minutes: 120
        case .tenMinutes: 144
        case .hours: 192
        }
    }

    /// How many buckets are stored, and later forgotten, together.
    package var together: Int64 {
        switch self {
        case .minutes: 60
        case .tenMinutes: 144
        case .hours: 24
        }
    }

    /// Returns the number of the bucket of a time in milliseconds since 1970 UTC.
    package func bucket(of time: Int64) -> Int64 { time / step }
}

extension StatisticsResolution {
    /// Returns the numbers of the buckets of a period in milliseconds since 1970 UTC.
    ///
    /// - Throws: ``BrokerError/Code/refused`` if the period ends before it begins, or has more buckets than are kept.
    package func buckets(from: Int64, to: Int64) throws(BrokerError) -> ClosedRange<Int64> {
        let (first, last) = (bucket(of: max(0, from)), bucket(of: max(0, to)))
        guard first <= last, last - first <= Int64(kept) else {
            let coarser = self == .hours ? "" : ", or for a coarser resolution"
            throw BrokerError(
                .refused,
                "the period must begin before it ends, and have at most \(kept) steps of \(rawValue); ask for a shorter "
                    + "period\(coarser)"
            )
        }
        return first...last
    }
}
