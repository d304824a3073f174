import ErrandCommandLine

/// A run of the chosen measurements with their repetitions.
struct BenchRun {
    let stage: BenchStage
    let measurements: [BenchMeasurement]
    let runs: BenchRuns

    /// Measures in rounds, so that slow minutes of the machine affect all measurements equally.
    func figures() async throws -> BenchFigures {
        var figures = BenchFigures()
        let turns = measurements.map { (measurement: $0, count: runs.count(isLong: $0.isLong)) }
        var progress = ProgressBar(total: Int64(turns.reduce(0) { $0 + $1.count }))
        var done: Int64 = 0
        for round in 0..<(turns.map { $0.count }.max() ?? 0) {
            for turn in turns where round < turn.count {
                progress.update(done, turn.measurement.title)
                try await turn.measurement.take(stage, &figures)
                try await stage.reset()
                done += 1
            }
        }
        progress.hide()
        return figures
    }
}
