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

    /// The range between two samples that contains the true median in at least 95 of 100 cases, whatever the distribution
    /// is; `nil` for fewer than six samples. Every sample is above the true median as often as below it, so too few are on
    /// one side only as often as too few of so many coins show heads.
    var medianInterval: ClosedRange<Double>? {
        let sorted = values.sorted()
        var outside = 0
        var chance = sorted.reduce(1.0) { chance, _ in chance / 2 }
        var all = 0.0
        while outside < sorted.count / 2, all + chance <= 0.025 {
            all += chance
            chance *= Double(sorted.count - outside) / Double(outside + 1)
            outside += 1
        }
        guard outside > 0 else { return nil }
        return sorted[outside - 1]...sorted[sorted.count - outside]
    }

    /// The smallest and the largest sample; `nil` without a run.
    var range: ClosedRange<Double>? {
        guard let least = values.min(), let most = values.max() else { return nil }
        return least...most
    }
}
