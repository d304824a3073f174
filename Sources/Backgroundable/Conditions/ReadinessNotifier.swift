import Foundation

/// Notifies an operation's queue that the operation has become ready.
///
/// On Linux, Foundation's queue stores the last value of `isReady`. A notification is lost if it arrives while another
/// thread has read the value and not yet stored it, and is not repeated: an operation whose last dependency finishes
/// while it is being added might wait forever. Therefore the notification is repeated, after delays that double, until
/// the operation has started. A lost notification then costs about as long as the other thread was suspended, and an
/// operation that waits for a place in its queue costs a few notifications.
enum ReadinessNotifier {
    private static let firstSpan = Duration.milliseconds(1)

    static func ring(_ operation: AsyncOperation) {
        operation.notify(.ready)
        ringAgain(operation, after: firstSpan)
    }

    /// Schedules a notification for an operation that has just been read as ready, because its queue may store an older
    /// value.
    static func ringLater(_ operation: AsyncOperation) {
        ringAgain(operation, after: firstSpan)
    }

    private static func ringAgain(_ operation: AsyncOperation, after span: Duration) {
        guard operation.state.facts.isDisjoint(with: .claimed) else { return }
        _ = DeadlineTimer.shared.schedule(after: span) { [weak operation] in
            guard let operation, operation.state.facts.isDisjoint(with: .claimed) else { return }
            // The queue's work, and `isReady` of other operations, must not delay the timer's thread.
            DispatchQueue.global().async {
                operation.notify(.ready)
                ringAgain(operation, after: span * 2)
            }
        }
    }
}
