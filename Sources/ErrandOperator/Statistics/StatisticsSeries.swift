package import Errand

/// The course of a queue, or of several together, over a period, in steps of equal length.
package struct StatisticsSeries: Sendable, Equatable {
    /// The values of one step.
    package struct Point: Sendable, Equatable {
        /// Jobs pushed a second.
        package var pushed = 0.0
        /// Runs that finished a second.
        package var finished = 0.0
        /// Runs that failed or timed out a second.
        package var failed = 0.0
        /// Ready jobs at the end of the step.
        package var ready = 0.0
        /// Jobs that are scheduled or wait for a retry, at the end of the step.
        package var later = 0.0
        /// For how many seconds the oldest ready job of all queues had been waiting at the end of the step.
        package var oldest = 0.0
    }

    /// The beginning of the first step, in milliseconds since 1970 UTC.
    package let from: Int64
    /// The length of a step in milliseconds.
    package let step: Int64
    /// The points, oldest first; `nil` for steps of which nothing is known.
    package private(set) var points: [Point?]

    /// Makes the series of a queue.
    ///
    /// Between two samples, however far they are apart, the rates are their mean, and the counts those of the first.
    package init(_ samples: [QueueStatistics.Sample], of period: StatisticsPeriod, now: Int64) {
        step = period.resolution.step
        let last = now / step
        let count = period.milliseconds / step
        from = (last - count + 1) * step
        points = Array(repeating: nil, count: Int(count))
        for (old, new) in zip(samples, samples.dropFirst()) where new.at > old.at { fill(from: old, to: new) }
    }

    private mutating func fill(from old: QueueStatistics.Sample, to new: QueueStatistics.Sample) {
        let mean = Point(from: old, to: new)
        let first = max(0, Self.index(of: old.at, from, step))
        let last = min(points.count - 1, Self.index(of: new.at, from + 1, step))
        guard old.at >= from || new.at > from, first <= last else { return }
        for index in first...last { points[index] = mean }
        points[last]?.setCounts(new)
    }

    /// Returns the step of a time, for any time that a broker may return.
    private static func index(of time: Int64, _ from: Int64, _ step: Int64) -> Int {
        Int(clamping: max(time, from - step).subtractingReportingOverflow(from).partialValue / step)
    }

    /// Adds the points of another queue over the same period.
    package mutating func add(_ other: Self) {
        for (index, point) in other.points.enumerated() where points.indices.contains(index) {
            guard let point else { continue }
            points[index] = points[index].map { $0 + point } ?? point
        }
    }
}

extension StatisticsSeries.Point {
    fileprivate init(from old: QueueStatistics.Sample, to new: QueueStatistics.Sample) {
        let seconds = (Double(new.at) - Double(old.at)) / 1000
        // A queue whose data was lost counts from 0 again, which must not give a negative rate.
        func rate(_ counts: (QueueStatistics.Sample) -> Int) -> Double {
            Double(max(0, counts(new).subtractingReportingOverflow(counts(old)).partialValue)) / seconds
        }
        pushed = rate(\.pushed)
        finished = rate(\.finished)
        failed = rate { $0.failed.addingReportingOverflow($0.timedOut).partialValue }
        setCounts(old)
    }

    fileprivate mutating func setCounts(_ sample: QueueStatistics.Sample) {
        ready = Double(sample.ready)
        later = Double(sample.scheduled) + Double(sample.retrying)
        oldest = Double(sample.oldestReadyMilliseconds) / 1000
    }

    fileprivate static func + (left: Self, right: Self) -> Self {
        var sum = left
        sum.pushed += right.pushed
        sum.finished += right.finished
        sum.failed += right.failed
        sum.ready += right.ready
        sum.later += right.later
        sum.oldest = max(left.oldest, right.oldest)
        return sum
    }
}
