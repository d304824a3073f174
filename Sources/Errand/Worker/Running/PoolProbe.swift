import Synchronization

/// Sees from another thread whether handlers block every thread of the cooperative pool.
///
/// A task is sent into the pool; as long as it has not run, no thread there was free. Nothing else can be gone by: what the
/// worker itself does there may wait for a broker that is away.
final class PoolProbe: Sendable {
    private struct State {
        var sent: ContinuousClock.Instant?
        var looks = 0
    }

    private let state = Mutex(State())

    /// So many looks have to find the same task waiting: a process that was stopped meanwhile gets time to run it.
    private static let fewestLooks = 3

    /// How long the pool has been blocked by now; `nil` when it does not seem to be. To be called again and again.
    func look() -> Duration? {
        let (isNew, blocked) = state.withLock { state -> (Bool, Duration?) in
            guard let sent = state.sent else {
                state = State(sent: .now)
                return (true, nil)
            }
            state.looks += 1
            return (false, state.looks >= Self.fewestLooks ? ContinuousClock.now - sent : nil)
        }
        if isNew {
            // Not the caller's executor: what is asked for is a thread of the pool.
            Task.detached { [self] in state.withLock { $0.sent = nil } }
        }
        return blocked
    }
}
