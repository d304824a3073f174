import Foundation

/// Calls a closure when an operation of any kind has finished.
///
/// It depends on that operation and runs after it: Foundation's documented way, without observing keys and without taking
/// the operation's one completion block. Each is in a queue of its own, because a queue on Linux looks through all that
/// wait in it whenever one of them is ready.
///
/// Unchecked because `Operation` is a class that others may subclass; the only variable here is locked.
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

    /// Begins to watch. To be called once.
    func begin(_ operation: Operation) {
        addDependency(operation)
        OperationQueue().addOperation(self)
        remindQueue()
    }

    /// Watches no longer, and lets go of the operation and of the closure, which is not called any more.
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
    /// Tells the queue once more if the operation is ready. To be called when it has been added.
    ///
    /// Foundation's queue on Linux asks and keeps the answer in two steps. If the last dependency finishes between
    /// them, the queue believes for ever that the operation is not ready.
    func remindQueue() {
        #if !canImport(ObjectiveC)
            if isReady { didChangeValue(forKey: "isReady") }
        #endif
    }
}
