import Errand
import ErrandRedis
import Foundation
import Synchronization
import TestSupport

/// Pushes jobs at a steady rate while a scenario does its worst.
final class Load: Sendable {
    /// Jobs a second.
    let rate: Int
    private let task: Task<Void, any Error>
    private let isOver: Flag

    private final class Flag: Sendable {
        let value = Mutex(false)
    }

    /// Begins to push at once.
    init(
        _ context: ScenarioContext,
        rate: Int,
        _ operation: String,
        via broker: RedisBroker? = nil,
        _ options: JobOptions
    ) {
        self.rate = rate
        let flag = Flag()
        isOver = flag
        task = Task {
            let began = ContinuousClock.now
            var pushed = 0
            while !flag.value.withLock({ $0 }) {
                let due = Int((ContinuousClock.now - began) / .milliseconds(1)) * rate / 1000
                if due > pushed {
                    let jobs = try (0..<min(due - pushed, 500)).map { _ in try context.job(operation, options) }
                    pushed += jobs.count
                    try await context.push(jobs, ends: options.ends, via: broker)
                }
                try await Task.sleep(for: .milliseconds(20))
            }
        }
    }

    /// Pushes nothing more, whether the last push is answered or not.
    func cancel() async {
        isOver.value.withLock { $0 = true }
        task.cancel()
        _ = await task.result
    }

    /// Pushes nothing more, once the last push has been answered.
    func stop() async throws {
        isOver.value.withLock { $0 = true }
        try await task.value
    }
}

/// How many jobs had ended at a moment.
struct Carried {
    let instant: ContinuousClock.Instant
    let jobs: Int

    /// How much of a load was carried between two moments; more than 1 where a backlog was.
    func share(of load: Load, since earlier: Carried) -> Double {
        Double(jobs - earlier.jobs) / (Double(load.rate) * ((instant - earlier.instant) / .seconds(1)))
    }
}

extension ScenarioContext {
    /// Pushes at a steady rate until the load is stopped.
    func load(
        rate: Int,
        _ operation: String = "mark",
        via broker: RedisBroker? = nil,
        _ change: (inout JobOptions) -> Void = { _ in }
    ) -> Load {
        var options = JobOptions()
        change(&options)
        let load = Load(self, rate: rate, operation, via: broker, options)
        atHalt { await load.cancel() }
        return load
    }

    /// Waits until the workers carry nearly all of the load again, in some half second; notes how long that took.
    func carries(
        _ load: Load,
        share: Double = 0.9,
        within limit: Duration,
        since: ContinuousClock.Instant = .now
    ) async throws {
        try await recovers("the workers carry \(Int(share * 100)) % of the load again", within: limit, since: since) {
            let before = self.carried()
            try await Task.sleep(for: .milliseconds(500))
            return self.carried().share(of: load, since: before) >= share
        }
    }

    /// How many jobs have ended until now.
    func carried() -> Carried {
        // The moment first: to read what has been written until then takes long where that is much.
        let instant = ContinuousClock.now
        return Carried(instant: instant, jobs: ledger.counts.ended)
    }
}
