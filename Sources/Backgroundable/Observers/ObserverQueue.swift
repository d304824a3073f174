/// An event of an operation that observers are notified of.
enum Milestone: Hashable {
    case started, cancelled, timedOut, finished
}

/// The ordered notifications of an operation's observers.
///
/// One thread at a time delivers, as for the delegate of a queue (``QueueObservers``). So an observer may use the
/// operation, or wait for threads that use it, without a deadlock. After the last notification the delivering thread
/// closes the operation.
struct ObserverQueue: ~Copyable {
    enum Letter {
        case attached(any OperationObserver)
        case news(any OperationObserver, Milestone)
        /// The last item: the operation may be closed.
        case close(@Sendable () -> Void)
    }

    private var observers: [any OperationObserver] = []
    private var happened: [Milestone] = []
    private var letters: [Letter] = []
    private var position = 0
    private var isDelivering = false

    /// Adds an observer, which is notified of all past events first.
    mutating func add(_ observer: any OperationObserver) {
        letters.append(.attached(observer))
        letters += happened.map { .news(observer, $0) }
        // No event follows the finish, so the observer need not be kept alive.
        if happened.last != .finished { observers.append(observer) }
    }

    /// Adds an event, unless it was added before.
    mutating func post(_ milestone: Milestone) {
        guard !happened.contains(milestone) else { return }
        happened.append(milestone)
        letters += observers.map { .news($0, milestone) }
        if milestone == .finished { observers = [] }
    }

    /// Calls `action` when everything before it has been delivered.
    mutating func close(_ action: @escaping @Sendable () -> Void) {
        letters.append(.close(action))
    }

    /// Returns whether the caller has to deliver. If so, it calls ``next()`` until that returns nil.
    mutating func beginDelivery() -> Bool {
        guard !isDelivering, !letters.isEmpty else { return false }
        isDelivering = true
        return true
    }

    mutating func next() -> Letter? {
        guard position < letters.count else {
            letters = []
            position = 0
            isDelivering = false
            return nil
        }
        defer { position += 1 }
        return letters[position]
    }
}
