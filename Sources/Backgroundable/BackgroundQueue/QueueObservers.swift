/// The observers of a background queue's busy state: its background task, the tasks that wait until it is empty, and
/// the ordered notifications of its delegate.
///
/// One thread at a time delivers. Another thread only appends its notification, so a delegate may use the queue, and
/// wait for threads that use it, without a deadlock.
struct QueueObservers: ~Copyable {
    enum Item {
        case willStart, didFinish
    }

    weak var delegate: (any BackgroundQueueDelegate)?

    /// Busy and empty alternate, so each change inverts the last one, in whatever order the causing threads arrive
    /// here.
    private var isBusy = false
    private var items: [Item] = []
    private var waiting: [PendingWait] = []
    private var isDelivering = false
    private var backgroundTask = HeldBackgroundTask()

    /// Whether the queue holds a background task while it is busy.
    var holdsBackgroundTask: Bool {
        backgroundTask.isWanted
    }

    /// Sets whether the queue holds a background task while it is busy.
    mutating func holdBackgroundTask(_ isWanted: Bool, for queue: BackgroundQueue) {
        backgroundTask.setWanted(isWanted, isBusy: isBusy, queue)
    }

    /// Notes that the queue has become busy or empty. Returns whether the caller has to deliver.
    mutating func change(of queue: BackgroundQueue) -> Bool {
        isBusy.toggle()
        backgroundTask.busyChanged(to: isBusy, queue)
        guard delegate != nil else { return false }
        items.append(isBusy ? .willStart : .didFinish)
        guard !isDelivering else { return false }
        isDelivering = true
        return true
    }

    /// Adds a task that waits until the queue is empty. Returns false if the queue is empty now.
    ///
    /// - Parameter isOccupied: Whether the queue has members, even if their change has not been noted here yet.
    mutating func enlist(_ wait: PendingWait, isOccupied: Bool) -> Bool {
        guard isBusy || isOccupied else { return false }
        waiting.append(wait)
        return true
    }

    /// Takes the waiting tasks if the queue is empty.
    mutating func takeWaiting() -> [PendingWait] {
        guard !isBusy, !waiting.isEmpty else { return [] }
        defer { waiting = [] }
        return waiting
    }

    /// Returns the next notification for the delivering thread. Nil ends the delivery.
    mutating func next() -> Item? {
        guard !items.isEmpty else {
            isDelivering = false
            return nil
        }
        return items.removeFirst()
    }
}
