/// What a job cost where so much of something was there, run by run.
struct GrowthPoint: Sendable, Equatable {
    let axis: GrowthAxis
    let value: Int
    private var samples: [GrowthFigure: BenchSamples] = [:]

    init(axis: GrowthAxis, value: Int) {
        self.axis = axis
        self.value = value
    }

    /// Whether it takes minutes, and gigabytes.
    var isLong: Bool { axis == .waiting && value > 1_000_000 }

    /// How many runs there were.
    var runs: Int { samples.values.map(\.count).max() ?? 0 }

    /// What was measured of a figure; `nil` where it does not depend on the axis.
    subscript(figure: GrowthFigure) -> BenchSamples? { samples[figure] }

    /// Adds what a run measured, if it may depend on the axis.
    mutating func add(_ value: Double, to figure: GrowthFigure) {
        guard axis.figures.contains(figure) else { return }
        samples[figure, default: BenchSamples()].add(value)
    }
}
