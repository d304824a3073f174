/// A moment of an operation's life that observers are told of.
enum Milestone: Hashable {
    case started, cancelled, timedOut, finished
}

/// What an operation's observers are to be told, in order.
///
/// One thread at a time delivers, as for a queue's delegate (``QueueObservers``): an observer may use the operation, or wait
/// for threads that use it, without a deadlock. When everybody knows that it has finished, the deliverer closes it.
struct ObserverQueue: ~Copyable {
    enum Letter {
        case attached(any OperationObserver)
        case news(any OperationObserver, Milestone)
        /// The last one: the operation may be closed.
        case close(@Sendable () -> Void)
    }

    private var observers: [any OperationObserver] = []
    private var happened: [Milestone] = []
    private var letters: [Letter] = []
    private var position = 0
    private var isDelivering = false

    /// Adds an observer, which learns at once what has happened already.
    mutating func add(_ observer: any OperationObserver) {
        letters.append(.attached(observer))
        letters += happened.map { .news(observer, $0) }
        // Nothing follows the end: whom it was told must not be kept alive.
        if happened.last != .finished { observers.append(observer) }
    }

    /// Notes that something has happened, unless that was noted before.
    mutating func post(_ milestone: Milestone) {
        guard !happened.contains(milestone) else { return }
        happened.append(milestone)
        letters += observers.map { .news($0, milestone) }
        if milestone == .finished { observers = [] }
    }

    /// Has `action` called when everything before it has been delivered.
    mutating func close(_ action: @escaping @Sendable () -> Void) {
        letters.append(.close(action))
    }

    /// Whether the caller has to deliver. If so, it calls ``next()`` until that is nil.
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
