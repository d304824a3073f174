/// What the runs measured of one thing.
struct BenchSamples: Sendable, Equatable {
    private var values: [Double] = []

    /// How many runs there were.
    var count: Int { values.count }

    /// Adds what a run measured.
    mutating func add(_ value: Double) { values.append(value) }

    /// The one in the middle; `nil` without a run.
    var median: Double? {
        let sorted = values.sorted()
        guard !sorted.isEmpty else { return nil }
        let middle = sorted.count / 2
        return sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
    }

    /// The smallest and the largest.
    var range: ClosedRange<Double>? {
        guard let least = values.min(), let most = values.max() else { return nil }
        return least...most
    }
}
