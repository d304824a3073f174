import Errand

/// What of a world matters for what may still happen. Two worlds of one fingerprint have the same future, apart from the
/// numbers that times, tokens, calls, jobs and sessions go by:
///
/// - times count from now, and what is past, or so long ago that it is an outage, is just that;
/// - tokens matter by which claim they fit, or come before; calls by their order within their session;
/// - jobs count by the order of their ids among those that live; ended and dead ones only while the producer asks again;
/// - sessions count by their owners, the others by the end of their leases; workers are interchangeable.
extension World {
    var fingerprint: Fingerprint {
        guard workers.count == 2 else { return fingerprint(Array(workers.indices)) }
        let keys = workers.map(key)
        if keys[0] != keys[1] { return fingerprint(keys[0] < keys[1] ? [0, 1] : [1, 0]) }
        let one = fingerprint([0, 1])
        let other = fingerprint([1, 0])
        return one < other ? one : other
    }

    /// What sorts workers at a glance, so that seldom both orders must be tried.
    private func key(of worker: Worker) -> Int {
        var key = (worker.isPaused ? 1 : 0) + (worker.isAwaiting ? 2 : 0) + worker.held.count * 4
        key += worker.mustReconcile ? 32 : 0
        guard let session = worker.session else { return key }
        key += 256
        guard let state = broker.queue.sessions[session.id] else { return key }
        // No more than the fingerprint tells, or worlds of one fingerprint would part later.
        let leaseEnds = Int(max((state.leaseEnds - now) / Self.tick, faults.leaps > 0 ? -Self.leap : 0))
        return key + 512 * (8 + leaseEnds) + 16384 * state.claims.count
    }

    private func fingerprint(_ order: [Int]) -> Fingerprint {
        var writer = WorldWriter(self, order)
        writer.write()
        return writer.fingerprint
    }
}
