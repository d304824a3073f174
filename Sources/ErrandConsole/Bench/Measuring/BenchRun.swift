import ErrandCommandLine

/// The chosen measurements, one after the other, as often as is wanted.
struct BenchRun {
    let stage: BenchStage
    let measurements: [BenchMeasurement]
    let runs: Int

    /// Takes them.
    func figures() async throws -> BenchFigures {
        var figures = BenchFigures()
        var progress = ProgressBar(total: Int64(measurements.count * runs))
        var done: Int64 = 0
        for _ in 0..<runs {
            for measurement in measurements {
                progress.update(done, measurement.title)
                try await measurement.take(stage, &figures)
                done += 1
            }
        }
        progress.hide()
        return figures
    }
}
