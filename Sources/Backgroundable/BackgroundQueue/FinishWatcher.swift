import Foundation

/// Calls a closure when an operation of any kind has finished.
///
/// It depends on that operation and runs after it, in a queue of its own: Foundation's documented way, without
/// observing keys and without taking the operation's one completion block.
///
/// Unchecked because `Operation` is a class that others may subclass; there is no variable here.
final class FinishWatcher: Operation, @unchecked Sendable {
    private static let queue = OperationQueue()

    private let action: @Sendable () -> Void

    private init(_ action: @escaping @Sendable () -> Void) {
        self.action = action
    }

    static func watch(_ operation: Operation, _ action: @escaping @Sendable () -> Void) {
        let watcher = FinishWatcher(action)
        watcher.addDependency(operation)
        queue.addOperation(watcher)
        watcher.remindQueue()
    }

    override func main() {
        action()
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
