import Synchronization

/// Sees from another thread whether handlers block every thread of the cooperative pool.
///
/// A task is sent into the pool; as long as it has not run, no thread there was free. Nothing else can be gone by: what the
/// worker itself does there may wait for a broker that is away.
package final class PoolProbe: Sendable {
    private struct State {
        var sent: ContinuousClock.Instant?
        var looks = 0
        var lastLook: ContinuousClock.Instant?
    }

    private let state = Mutex(State())
    private let send: @Sendable (@escaping @Sendable () -> Void) -> Void

    /// So many looks have to find the same task waiting: a process that was stopped meanwhile gets time to run it.
    private static let fewestLooks = 3
    /// Looks at once, as when the answers of many queues come together, are one.
    private static let apart = Duration.milliseconds(50)

    /// Makes a probe.
    ///
    /// - Parameter send: sends a task into the pool.
    package init(
        // Not the caller's executor: what is asked for is a thread of the pool.
        send: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void = { work in Task.detached { work() } }
    ) {
        self.send = send
    }

    /// How long the pool has been blocked by now; `nil` when it does not seem to be. To be called again and again.
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
