import Foundation

/// The background task that a queue holds while it is busy, if enabled.
struct HeldBackgroundTask: ~Copyable {
    private(set) var isWanted = true
    private var identifier = BackgroundTaskIdentifier.invalid

    mutating func setWanted(_ isWanted: Bool, isBusy: Bool, _ queue: BackgroundQueue) {
        guard isWanted != self.isWanted else { return }
        self.isWanted = isWanted
        if isWanted, isBusy { begin(queue) } else { end() }
    }

    mutating func busyChanged(to isBusy: Bool, _ queue: BackgroundQueue) {
        guard isWanted else { return }
        if isBusy { begin(queue) } else { end() }
    }

    private mutating func begin(_ queue: BackgroundQueue) {
        // The operations keep the queue alive until it is empty. (A weak reference would make every later use of the
        // queue slower.)
        identifier = BackgroundTasks.shared.beginBackgroundTask(of: queue)
    }

    private mutating func end() {
        BackgroundTasks.shared.endBackgroundTask(identifier)
        identifier = .invalid
    }
}
