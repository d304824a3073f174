/// The costs of a job at one value of an axis, run by run.
struct GrowthPoint: Sendable, Equatable {
    let axis: GrowthAxis
    let value: Int
    private var samples: [GrowthFigure: BenchSamples] = [:]

    init(axis: GrowthAxis, value: Int) {
        self.axis = axis
        self.value = value
    }

    /// Whether a run takes minutes and gigabytes.
    var isLong: Bool { axis == .waiting && value > 1_000_000 }

    /// The number of runs.
    var runs: Int { samples.values.map(\.count).max() ?? 0 }

    /// The samples of a figure; `nil` if it does not depend on the axis.
    subscript(figure: GrowthFigure) -> BenchSamples? { samples[figure] }

    /// Adds the sample of a run, if the figure may depend on the axis.
    mutating func add(_ value: Double, to figure: GrowthFigure) {
        guard axis.figures.contains(figure) else { return }
        samples[figure, default: BenchSamples()].add(value)
    }
}
