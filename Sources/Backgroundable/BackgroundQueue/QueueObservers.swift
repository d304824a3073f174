/// Whether a background queue is busy, and what follows from that: its background task, those who wait until it is
/// empty, and what its delegate is to be told, in order.
///
/// One thread at a time delivers. Another that has news meanwhile leaves it and goes on, so a delegate may use the
/// queue, and wait for threads that use it, without a deadlock.
struct QueueObservers: ~Copyable {
    enum Item {
        case willStart, didFinish
    }

    weak var delegate: (any BackgroundQueueDelegate)?

    /// Busy and empty alternate, so each change is the opposite of the last, in whatever order the threads that caused
    /// them arrive here.
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

    /// Notes that the queue has become busy, or empty. Returns whether the caller has to deliver.
    mutating func change(of queue: BackgroundQueue) -> Bool {
        isBusy.toggle()
        backgroundTask.busyChanged(to: isBusy, queue)
        guard delegate != nil else { return false }
        items.append(isBusy ? .willStart : .didFinish)
        guard !isDelivering else { return false }
        isDelivering = true
        return true
    }

    /// Notes who waits until the queue is empty. False if it is empty now.
    ///
    /// - Parameter isOccupied: whether it has members, of whom the news may not have arrived yet.
    mutating func enlist(_ wait: PendingWait, isOccupied: Bool) -> Bool {
        guard isBusy || isOccupied else { return false }
        waiting.append(wait)
        return true
    }

    /// Those whose waiting is over, if the queue is empty.
    mutating func takeWaiting() -> [PendingWait] {
        guard !isBusy, !waiting.isEmpty else { return [] }
        defer { waiting = [] }
        return waiting
    }

    /// The next item for the one who delivers; nil ends the delivery.
    mutating func next() -> Item? {
        guard !items.isEmpty else {
            isDelivering = false
            return nil
        }
        return items.removeFirst()
    }
}
