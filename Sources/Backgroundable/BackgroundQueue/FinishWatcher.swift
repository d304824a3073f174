import Foundation

/// Calls a closure when an operation of any class has finished.
///
/// The watcher is an operation that depends on the watched one. This is the documented way: it needs no key-value
/// observing and leaves the operation's only completion block free. Each watcher has its own queue, because a queue on
/// Linux searches all its waiting operations whenever one becomes ready.
///
/// Unchecked because `Operation` is an open class. The only variable here is locked.
final class FinishWatcher: Operation, @unchecked Sendable {
    private let action: Locked<(@Sendable () -> Void)?>

    init(_ action: @escaping @Sendable () -> Void) {
        self.action = Locked(action)
    }

    @discardableResult
    static func watch(_ operation: Operation, _ action: @escaping @Sendable () -> Void) -> FinishWatcher {
        let watcher = FinishWatcher(action)
        watcher.begin(operation)
        return watcher
    }

    /// Begins to watch. Must be called once.
    func begin(_ operation: Operation) {
        addDependency(operation)
        OperationQueue().addOperation(self)
        remindQueue()
    }

    /// Stops watching, and releases the operation and the closure without calling the closure.
    func withdraw() {
        _ = action.withLock { $0.take() }
        for operation in dependencies { removeDependency(operation) }
        cancel()
        remindQueue()
    }

    override func main() {
        action.withLock { $0.take() }?()
    }
}

extension Operation {
    /// Repeats the readiness notification if the operation is ready. Must be called after the operation was added to a
    /// queue.
    ///
    /// Foundation's queue on Linux reads `isReady` and stores the value in two steps. If the last dependency finishes
    /// between them, the queue keeps the stale value forever.
    func remindQueue() {
        #if !canImport(ObjectiveC)
            if isReady { didChangeValue(forKey: "isReady") }
        #endif
    }
}
