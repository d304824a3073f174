/// The measured figures, run by run.
struct BenchFigures: Sendable {
    /// A kind of figure.
    enum Kind: String, CaseIterable, Sendable {
        case ceilingPushSingle, ceilingPushBatch, ceilingClaimFinish
        case ceilingPushBatchOneCall, ceilingClaimFinishOneCall
        case pushAwaited, pushConcurrent, pushBulk
        case drain, drainAsynchronous, drainChildren, drainServed, mixed
        case drainFewGroups, drainManyGroups, drainLimitedGroups, drainBesideOneRestingGroup,
            drainBesideRestingGroups, drainBesideFullGroups, drainBesideAnotherQueue,
            serverMicrosecondsPerGroupedJob
        case waitWithoutFlood99, waitBesideFlood99, waitBesideManyUsers99
        case uniqueNew, uniqueDrop, uniqueReplace
        case pickup50, pickup95, pickup99, pickupMost
        case pickup200Idle50, pickup200Idle95, pickup200Idle99, pickup200IdleMost
        case commandsPerJob, serverMicrosecondsPerJob, workerMicrosecondsPerJob, networkBytesPerJob
        case bytesPerWaitingJob, workerBytes, idleCommandsPerSecond, idleProcessorShare
        case longDrain, longDrainWorkerBytes
        case workflowUsual, workflowJoin, workflowFork, workflowDeath
        case workflowUsualCall, workflowJoinCall, workflowForkCall, workflowDeathCall

        /// Whether the figure is a maximum, so that the largest value of all runs counts.
        var isMost: Bool { Self.most.contains(self) }

        private static let most: Set<Kind> = [
            .pickupMost, .pickup200IdleMost, .workflowUsualCall, .workflowJoinCall, .workflowForkCall,
            .workflowDeathCall,
        ]
    }

    private var values: [Kind: BenchSamples] = [:]

    /// Adds the sample of a run.
    mutating func add(_ value: Double, to kind: Kind) { values[kind, default: BenchSamples()].add(value) }

    /// Adds percentiles and the maximum of latencies. A percentile is the smallest value that this share of them does
    /// not exceed.
    mutating func add(_ latencies: [Double], to kinds: [Kind]) {
        let sorted = latencies.sorted()
        guard let most = sorted.last else { return }
        for (kind, share) in zip(kinds, [0.5, 0.95, 0.99]) { add(Self.percentile(share, of: sorted), to: kind) }
        if let last = kinds.last { add(most, to: last) }
    }

    /// Adds the value that 99 of 100 latencies do not exceed.
    mutating func addHighPercentile(of latencies: [Double], to kind: Kind) {
        guard !latencies.isEmpty else { return }
        add(Self.percentile(0.99, of: latencies.sorted()), to: kind)
    }

    private static func percentile(_ share: Double, of sorted: [Double]) -> Double {
        let rank = Int((Double(sorted.count) * share).rounded(.up))
        return sorted[min(max(rank, 1), sorted.count) - 1]
    }

    /// Returns the value for all runs: the median, or the largest for a maximum; `nil` if it was not measured.
    func value(_ kind: Kind) -> Double? {
        kind.isMost ? values[kind]?.range?.upperBound : values[kind]?.median
    }

    /// Returns the smallest and the largest value of all runs.
    func range(_ kind: Kind) -> ClosedRange<Double>? { values[kind]?.range }

    /// Returns the number of runs that measured a figure.
    func runs(_ kind: Kind) -> Int { values[kind]?.count ?? 0 }
}
