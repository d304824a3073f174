import Errand
import ErrandRedis
import TestSupport

/// The age of a worker's heartbeat, according to the server.
extension ScenarioContext {
    /// The age of a worker's last heartbeat in milliseconds; the greatest number if the server has none of its
    /// sessions.
    func beatAge(of worker: Program) async throws -> Int {
        let mine = sessions(of: worker)
        let known = try await console.status(of: Self.queue).sessions
        return known.first { mine.contains($0.id) }?.lastBeatMilliseconds ?? .max
    }

    /// The largest age of a worker's last heartbeat during a time, in milliseconds.
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

    /// A worker sends a heartbeat every quarter of its lease, so half of it is late; recovered jobs show whether it was
    /// too late.
    func expectSteady(_ beat: Int, lease: Int) {
        expectInTime(beat < lease / 2, "the last beat was \(beat) ms old, with a lease of \(lease) ms")
    }
}
