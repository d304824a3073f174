/// The figures of two builds, pair by pair.
struct PairedFigures: Sendable {
    /// One figure.
    struct Figure: Sendable, Equatable {
        var ours = BenchSamples()
        var theirs = BenchSamples()
        /// Ours divided by theirs.
        var ratios = BenchSamples()
    }

    private var figures: [BenchFigures.Kind: Figure] = [:]

    /// Adds a pair of runs. Figures that one of the builds did not measure, or that are 0, are left out.
    mutating func add(ours: [String: Double], theirs: [String: Double]) {
        for (name, value) in ours {
            guard let kind = BenchFigures.Kind(rawValue: name), let other = theirs[name], value > 0, other > 0 else {
                continue
            }
            figures[kind, default: Figure()].ours.add(value)
            figures[kind, default: Figure()].theirs.add(other)
            figures[kind, default: Figure()].ratios.add(value / other)
        }
    }

    subscript(kind: BenchFigures.Kind) -> Figure? { figures[kind] }
}
