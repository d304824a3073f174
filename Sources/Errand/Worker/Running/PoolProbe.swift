import Synchronization

/// Detects from another thread whether handlers block every thread of the cooperative pool.
///
/// It sends a task into the pool; as long as that has not run, no thread was free. The worker's own tasks are no
/// indication, because they may wait for an unreachable broker.
package final class PoolProbe: Sendable {
    private struct State {
        var sent: ContinuousClock.Instant?
        var looks = 0
        var lastLook: ContinuousClock.Instant?
    }

    private let state = Mutex(State())
    private let send: @Sendable (@escaping @Sendable () -> Void) -> Void

    /// The number of looks that must find the same task waiting, so that a process that was suspended has time to run
    /// it.
    private static let fewestLooks = 3
    /// The minimum time between two looks: the beats of many queues arrive together and count as one look.
    private static let apart = Duration.milliseconds(50)

    /// Makes a probe.
    ///
    /// - Parameter send: sends a task into the pool.
    package init(
        // Not the caller's executor: the task must run on a thread of the pool.
        send: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void = { work in Task.detached { work() } }
    ) {
        self.send = send
    }

    /// Returns how long the pool has been blocked; `nil` if it does not seem to be. Must be called periodically.
    package func look(at now: ContinuousClock.Instant = .now) -> Duration? {
        let (isNew, blocked) = state.withLock { state -> (Bool, Duration?) in
            if let last = state.lastLook, now - last < Self.apart { return (false, nil) }
            state.lastLook = now
            guard let sent = state.sent else {
                state.sent = now
                state.looks = 0
                return (true, nil)
            }
            state.looks += 1
            return (false, state.looks >= Self.fewestLooks ? now - sent : nil)
        }
        if isNew { send { [self] in state.withLock { $0.sent = nil } } }
        return blocked
    }
}
