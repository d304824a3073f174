import Errand
import ErrandRedis
import TestSupport

/// How long a worker has been silent, by the server's word.
extension ScenarioContext {
    /// How old the last heartbeat of a worker is, in milliseconds; the greatest number where the server knows none of its sessions.
    func beatAge(of worker: Program) async throws -> Int {
        let mine = sessions(of: worker)
        let known = try await console.status(of: Self.queue).sessions
        return known.first { mine.contains($0.id) }?.lastBeatMilliseconds ?? .max
    }

    /// How old the last heartbeat of a worker was at the most, for some time, in milliseconds.
    func oldestBeat(of worker: Program, within time: Duration) async throws -> Int {
        let until = ContinuousClock.now + time
        var oldest = 0
        while ContinuousClock.now < until {
            let age = try await beatAge(of: worker)
            oldest = max(oldest, age)
            try await Task.sleep(for: .milliseconds(100))
        }
        return oldest
    }

    /// A worker must beat every quarter of its lease, so half of it is late. Whether that was too late, what was taken back tells.
    func expectSteady(_ beat: Int, lease: Int) {
        expectInTime(beat < lease / 2, "the last beat was \(beat) ms old, with a lease of \(lease) ms")
    }
}
