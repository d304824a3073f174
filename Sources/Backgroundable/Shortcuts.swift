import Foundation

/// Runs a block on `OperationQueue.background`. The block counts for the queue's delegate and waits while it is
/// suspended.
public func inTheBackground(_ block: @escaping @Sendable () -> Void) {
    OperationQueue.background.addOperation(block)
}

/// Runs a block on the main thread, after its current work.
///
/// The main queue must be served: by an app's run loop, `RunLoop.main.run()`, `dispatchMain()`, or an asynchronous
/// `main`.
public func onTheMainThread(_ block: @escaping @MainActor @Sendable () -> Void) {
    DispatchQueue.main.async { MainActor.assumeIsolated(block) }
}

/// Runs a block on the system's global concurrent queue, outside any operation queue.
public func inTheGlobalQueue(_ block: @escaping @Sendable () -> Void) {
    DispatchQueue.global().async(execute: block)
}
