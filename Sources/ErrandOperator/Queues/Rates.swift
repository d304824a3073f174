package import Errand

/// The rates of a queue, from the difference of its totals at two times.
package struct Rates: Sendable, Equatable {
    /// Jobs pushed per second.
    package var pushed = 0.0
    /// Jobs finished per second.
    package var finished = 0.0
    /// Runs that failed or timed out, per second.
    package var failed = 0.0

    /// Makes rates of zero.
    package init() {}

    /// Computes the rates between two readings of a queue's totals.
    ///
    /// - Parameter span: The time between the two readings.
    package init(from old: QueueStatus.Totals, to new: QueueStatus.Totals, in span: Duration) {
        let seconds = span / .seconds(1)
        guard seconds > 0 else { return }
        // A queue whose data was lost counts from 0 again, which must not give a negative rate.
        func rate(_ names: String...) -> Double {
            names.reduce(0.0) { $0 + Double(max(0, new[$1].subtractingReportingOverflow(old[$1]).partialValue)) }
                / seconds
        }
        pushed = rate("pushed")
        finished = rate("finished")
        failed = rate("failed", "timed_out")
    }

    /// Adds the rates of two queues.
    package static func + (left: Rates, right: Rates) -> Rates {
        var sum = left
        sum.pushed += right.pushed
        sum.finished += right.finished
        sum.failed += right.failed
        return sum
    }
}

extension Double {
    /// The rate for people: `0`, `0.4`, `12`, `1,250`.
    package var rateText: String {
        guard isFinite else { return "-" }
        if self == 0 { return "0" }
        if self < 9.95 {
            let tenths = Int((self * 10).rounded())
            return "\(tenths / 10).\(tenths % 10)"
        }
        return Int(Swift.min(rounded(), 1e15)).grouped
    }
}
