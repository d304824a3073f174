/// The samples of one figure, one for each run.
struct BenchSamples: Sendable, Equatable {
    private var values: [Double] = []

    /// The number of runs.
    var count: Int { values.count }

    /// Adds the sample of a run.
    mutating func add(_ value: Double) { values.append(value) }

    /// The median; `nil` without a run.
    var median: Double? {
        let sorted = values.sorted()
        guard !sorted.isEmpty else { return nil }
        let middle = sorted.count / 2
        return sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
    }

    /// The smallest and the largest sample; `nil` without a run.
    var range: ClosedRange<Double>? {
        guard let least = values.min(), let most = values.max() else { return nil }
        return least...most
    }
}
