import ErrandText
import Logging
import Synchronization

/// Says on standard error why a command waits for its broker, and for how long at the most.
final class WaitingNotice: Sendable {
    /// Until when the last notice holds.
    private let end = Mutex<ContinuousClock.Instant?>(nil)

    /// Says it, unless an earlier notice still holds: calls may wait at the same time.
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
