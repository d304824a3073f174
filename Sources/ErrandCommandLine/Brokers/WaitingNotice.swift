import ErrandText
import Logging
import Synchronization

/// Reports on standard error why a command waits for its broker, and for how long at most.
final class WaitingNotice: Sendable {
    /// The end of the last notice's validity.
    private let end = Mutex<ContinuousClock.Instant?>(nil)

    /// Reports the reason unless an earlier notice is still valid: several calls may wait at once.
    func tell(_ reason: String, for patience: Duration) {
        let now = ContinuousClock.now
        let isNew = end.withLock { end in
            guard end.map({ $0 <= now }) ?? true else { return false }
            end = now + patience
            return true
        }
        guard isNew else { return }
        let time = TimeSpanText.rounded(Int64(patience / .milliseconds(1)))
        StandardError.write("waiting for the broker: \(reason); trying again for \(time)", as: .warning)
    }
}
