import Foundation

/// Tells the queue of an operation that it has become ready.
///
/// Foundation's queue on Linux keeps what `isReady` said last. A notice that comes while another thread has asked and not
/// yet kept the answer is lost, and nothing tells it again: an operation whose last dependency finishes while it is being
/// added may so wait for ever. So the bell rings again, after spans that double, until the operation has started: a lost
/// notice costs as long as the other thread was away, and an operation that waits for a place in its queue a few
/// notices.
enum ReadinessNotifier {
    private static let firstSpan = Duration.milliseconds(1)

    static func ring(_ operation: AsyncOperation) {
        operation.notify(.ready)
        ringAgain(operation, after: firstSpan)
    }

    /// For one that has just been found ready: its queue may keep an older answer last.
    static func ringLater(_ operation: AsyncOperation) {
        ringAgain(operation, after: firstSpan)
    }

    private static func ringAgain(_ operation: AsyncOperation, after span: Duration) {
        guard operation.state.facts.isDisjoint(with: .claimed) else { return }
        _ = DeadlineTimer.shared.schedule(after: span) { [weak operation] in
            guard let operation, operation.state.facts.isDisjoint(with: .claimed) else { return }
            // A queue's own work, and other operations' `isReady`, are not for the timer's thread.
            DispatchQueue.global().async {
                operation.notify(.ready)
                ringAgain(operation, after: span * 2)
            }
        }
    }
}
