/// Counts durations in buckets, so that percentiles of any number of durations take little memory and can be merged.
///
/// The first bucket has durations under a millisecond; then there are four for each power of two, such as 4, 5, 6 and 7
/// or 1024, 1280, 1536 and 1792 milliseconds, up to 49 days. A percentile is therefore wrong by at most a quarter, and
/// mostly by less than a tenth. HdrHistogram counts alike.
public struct DurationHistogram: Sendable, Equatable {
    static let buckets = 129

    /// The number of durations in each bucket.
    private(set) var counts: [Int]
    /// The sum of all durations in milliseconds.
    public internal(set) var totalMilliseconds = 0

    /// Makes an empty histogram.
    public init() { counts = Array(repeating: 0, count: Self.buckets) }

    /// The number of durations.
    public var count: Int { counts.reduce(0) { $0.addingReportingOverflow($1).partialValue } }

    /// Counts a duration. A negative one counts as zero.
    public mutating func add(milliseconds: Int) {
        let duration = max(0, milliseconds)
        add(1, toBucket: Self.bucket(of: duration))
        totalMilliseconds = totalMilliseconds.addedClamped(duration)
    }

    /// Adds the durations of another histogram.
    public mutating func merge(_ other: Self) {
        for (bucket, count) in other.counts.enumerated() where count > 0 { add(count, toBucket: bucket) }
        totalMilliseconds = totalMilliseconds.addedClamped(other.totalMilliseconds)
    }

    /// Returns the duration that a share of the durations does not exceed, in milliseconds, estimated within its bucket;
    /// `nil` without durations.
    ///
    /// - Parameter share: 0 to 1; 0.5 is the median.
    public func percentile(_ share: Double) -> Double? {
        let all = count
        guard all > 0 else { return nil }
        let rank = max(1, (min(max(share, 0), 1) * Double(all)).rounded(.up))
        var before = 0.0
        for (bucket, count) in counts.enumerated() where count > 0 {
            if before + Double(count) >= rank {
                let (low, high) = (Self.limit(of: bucket), Self.limit(of: bucket + 1))
                return low + (high - low) * (rank - before) / Double(count)
            }
            before += Double(count)
        }
        return nil
    }

    /// Returns the number of durations below a limit in milliseconds, which should be a power of two.
    public func count(below milliseconds: Double) -> Int {
        counts.enumerated().reduce(0) { sum, bucket in
            Self.limit(of: bucket.offset + 1) <= milliseconds ? sum.addedClamped(bucket.element) : sum
        }
    }

    mutating func add(_ count: Int, toBucket bucket: Int) {
        guard counts.indices.contains(bucket), count > 0 else { return }
        counts[bucket] = counts[bucket].addedClamped(count)
    }

    /// Returns the bucket of a duration that is not negative.
    static func bucket(of milliseconds: Int) -> Int {
        guard milliseconds > 0 else { return 0 }
        let power = Int.bitWidth - 1 - milliseconds.leadingZeroBitCount
        let quarter = power >= 2 ? milliseconds >> (power - 2) & 3 : milliseconds << (2 - power) & 3
        return min(1 + 4 * power + quarter, buckets - 1)
    }

    /// Returns the shortest duration of a bucket in milliseconds.
    static func limit(of bucket: Int) -> Double {
        guard bucket > 0 else { return 0 }
        let power = Double(UInt64(1) << min((bucket - 1) / 4, 62))
        return power * (1 + Double((bucket - 1) % 4) / 4)
    }
}

extension Int {
    /// The sum, or the largest number if it does not fit. For numbers that are not negative.
    func addedClamped(_ other: Int) -> Int {
        let (sum, overflows) = addingReportingOverflow(other)
        return overflows ? .max : sum
    }
}
