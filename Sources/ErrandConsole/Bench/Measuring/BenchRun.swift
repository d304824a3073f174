import ErrandOperator

/// A run of the chosen measurements with their repetitions.
struct BenchRun {
    let stage: BenchStage
    let measurements: [BenchMeasurement]
    let runs: BenchRuns

    /// Measures in rounds, so that slow minutes of the machine affect all measurements equally.
    func figures() async throws -> BenchFigures {
        var figures = BenchFigures()
        let turns = turns
        let words = "\(measurements.count.counted("measurement")) (runs: \(runs))"
        let progress = BenchProgress(seconds: turns.map { $0.measurement.seconds(stage) }, of: words)
        defer { progress.finish() }
        for (measurement, words) in turns {
            progress.begin("\(measurement.title), \(words)", seconds: measurement.seconds(stage))
            try await measurement.take(stage, &figures)
            try await stage.reset()
        }
        return figures
    }

    /// The measurements in the order in which they are taken, each with its run: `run 2 of 3`.
    private var turns: [(measurement: BenchMeasurement, words: String)] {
        let counts = measurements.map { runs.count(isLong: $0.isLong) }
        return (0..<(counts.max() ?? 0)).flatMap { round in
            zip(measurements, counts).filter { round < $1 }.map { ($0, "run \(round + 1) of \($1)") }
        }
    }
}
