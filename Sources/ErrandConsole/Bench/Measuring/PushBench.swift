import Errand
import ErrandCommandLine

/// The measurement of the rate of pushes.
struct PushBench {
    let stage: BenchStage

    /// Jobs per call of `push(contentsOf:)`.
    static let portion = 500
    /// The number of tasks that push at the same time.
    static let tasks = 64

    /// Pushes one job after the other and awaits each push, on an otherwise idle connection.
    func awaited(jobs: Int) async throws -> Double {
        let (producer, queue) = (stage.producer, stage.queue())
        let job = try stage.job(BenchOperations.noop, on: queue)
        let start = ContinuousClock.now
        for _ in 0..<jobs { _ = try await producer.push(job) }
        return (ContinuousClock.now - start).rate(of: jobs)
    }

    /// Pushes one job after the other in each of 64 tasks, over one connection.
    func concurrent(jobs: Int) async throws -> Double {
        let (producer, queue) = (stage.producer, stage.queue())
        let job = try stage.job(BenchOperations.noop, on: queue)
        let share = max(1, jobs / Self.tasks)
        let start = ContinuousClock.now
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<Self.tasks {
                group.addTask { for _ in 0..<share { _ = try await producer.push(job) } }
            }
            try await group.waitForAll()
        }
        return (ContinuousClock.now - start).rate(of: share * Self.tasks)
    }

    /// Pushes many jobs per call to one queue, fewer if they are large.
    ///
    /// - Parameter groups: The groups to which the jobs belong in turn; none if it is empty.
    func bulk(
        jobs: Int,
        operation: String = BenchOperations.noop,
        groups: [String] = [],
        bytes: Int = 100,
        portion most: Int = PushBench.portion,
        to queue: String
    ) async throws -> Double {
        let kinds = try (groups.isEmpty ? [nil] : groups.map(Optional.some)).map {
            try stage.job(operation, on: queue, group: $0, bytes: bytes)
        }
        let portion = max(1, min(most, (4 << 20) / bytes))
        let start = ContinuousClock.now
        for first in stride(from: 0, to: jobs, by: portion) {
            let numbers = first..<min(first + portion, jobs)
            _ = try await stage.producer.push(contentsOf: numbers.map { kinds[$0 % kinds.count] })
        }
        return (ContinuousClock.now - start).rate(of: jobs)
    }

    /// Pushes jobs with names: all new, then all again as duplicates, then all again as replacements.
    func unique(jobs: Int) async throws -> (new: Double, drop: Double, replace: Double) {
        let queue = stage.queue()
        return (
            try await named(jobs, .drop, "accepted", on: queue),
            try await named(jobs, .drop, "dropped", on: queue),
            try await named(jobs, .replace, "replaced", on: queue)
        )
    }

    private func named(
        _ jobs: Int,
        _ policy: UniquenessPolicy,
        _ outcome: String,
        on queue: String
    ) async throws -> Double {
        let descriptions = try (0..<jobs).map {
            try stage.job(BenchOperations.noop, on: queue, name: "name \($0)", unique: policy)
        }
        let start = ContinuousClock.now
        for begin in stride(from: 0, to: jobs, by: Self.portion) {
            let portion = Array(descriptions[begin..<min(begin + Self.portion, jobs)])
            let receipts = try await stage.producer.push(contentsOf: portion)
            guard receipts.allSatisfy({ $0.outcome.rawValue == outcome }) else {
                throw CommandFailure("a push was not \(outcome)", ExitStatus.unsuccessful)
            }
        }
        return (ContinuousClock.now - start).rate(of: jobs)
    }
}
