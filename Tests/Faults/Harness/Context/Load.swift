import Errand
import ErrandRedis
import Foundation
import Synchronization
import TestSupport

/// Pushes jobs at a steady rate during a scenario.
final class Load: Sendable {
    /// Jobs a second.
    let rate: Int
    private let task: Task<Void, any Error>
    private let isOver: Flag

    private final class Flag: Sendable {
        let value = Mutex(false)
    }

    /// Starts to push at once.
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

    /// Stops pushing, without waiting for the last receipt.
    func cancel() async {
        isOver.value.withLock { $0 = true }
        task.cancel()
        _ = await task.result
    }

    /// Stops pushing after the last receipt.
    func stop() async throws {
        isOver.value.withLock { $0 = true }
        try await task.value
    }
}

/// The number of jobs that had ended at a moment.
struct Carried {
    let instant: ContinuousClock.Instant
    let jobs: Int

    /// The share of the load that ended between two moments; more than 1 with a backlog.
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

    /// Waits until the workers keep up with nearly all of the load again for half a second, and records how long that
    /// took.
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

    /// Records the longest time since a moment in which no job began.
    ///
    /// - Parameter start: In milliseconds since 1970.
    func recordPause(since start: Int64) {
        let begun = ledger.lines.filter { $0.what == "begin" && $0.milliseconds >= start }.map(\.milliseconds).sorted()
        let pauses = zip([start] + begun, begun).map { Int($1 - $0) }
        state.withLock { $0.report.pauseMilliseconds = ($0.report.pauseMilliseconds ?? []) + [pauses.max() ?? 0] }
    }

    /// The number of jobs that have ended.
    func carried() -> Carried {
        // The time first, because reading a long ledger takes time.
        let instant = ContinuousClock.now
        return Carried(instant: instant, jobs: ledger.counts.ended)
    }
}
