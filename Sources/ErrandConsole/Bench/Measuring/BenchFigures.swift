/// What was measured, run by run.
struct BenchFigures: Sendable {
    /// What a figure is of.
    enum Kind: String, CaseIterable, Sendable {
        case ceilingPushSingle, ceilingPushBatch, ceilingClaimFinish
        case pushAwaited, pushConcurrent, pushBulk
        case drain, drainAsynchronous, drainChildren, mixed
        case uniqueNew, uniqueDrop, uniqueReplace
        case pickup50, pickup95, pickup99, pickupMost
        case pickup200Idle50, pickup200Idle95, pickup200Idle99, pickup200IdleMost
        case commandsPerJob, serverMicrosecondsPerJob, workerMicrosecondsPerJob, networkBytesPerJob
        case bytesPerWaitingJob, workerBytes, idleCommandsPerSecond, idleProcessorShare
    }

    private var values: [Kind: [Double]] = [:]

    /// Adds what a run measured.
    mutating func add(_ value: Double, to kind: Kind) { values[kind, default: []].append(value) }

    /// Adds the percentiles of some latencies.
    mutating func add(_ latencies: [Double], to kinds: [Kind]) {
        let sorted = latencies.sorted()
        guard let most = sorted.last else { return }
        for (kind, share) in zip(kinds, [0.5, 0.95, 0.99]) {
            add(sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))], to: kind)
        }
        if let last = kinds.last { add(most, to: last) }
    }

    /// The median of all runs; `nil` when it was not measured.
    func median(_ kind: Kind) -> Double? {
        guard let sorted = values[kind]?.sorted(), !sorted.isEmpty else { return nil }
        let middle = sorted.count / 2
        return sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
    }

    /// The smallest and the largest of all runs.
    func range(_ kind: Kind) -> ClosedRange<Double>? {
        guard let least = values[kind]?.min(), let most = values[kind]?.max() else { return nil }
        return least...most
    }
}
