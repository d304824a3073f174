import Backgroundable
import Dispatch
import Synchronization

/// A heartbeat on a thread of its own, so that blocked cooperative threads cannot end a lease.
final class MemoryHeartbeat: Heartbeat {
    private let wake = DispatchSemaphore(value: 0)
    private let isStopped = Atomic(false)

    /// Starts the heartbeat: immediately, then every `interval`.
    func start(every interval: Duration, _ beat: @escaping @Sendable () -> Void) {
        DedicatedThread.start("errand-heartbeat") { [self] in run(every: interval, beat) }
    }

    private func run(every interval: Duration, _ beat: () -> Void) {
        let milliseconds = Int(clamping: max(MemoryRules.milliseconds(interval), 1))
        while !isStopped.load(ordering: .acquiring) {
            beat()
            _ = wake.wait(timeout: .now() + .milliseconds(milliseconds))
        }
    }

    func beatNow() { wake.signal() }

    func stop() {
        isStopped.store(true, ordering: .releasing)
        wake.signal()
    }
}
