import Foundation

/// Runs a block on `OperationQueue.background`, whose delegate and whose suspension it obeys.
public func inTheBackground(_ block: @escaping @Sendable () -> Void) {
    OperationQueue.background.addOperation(block)
}

/// Runs a block on the main thread, after what it is doing now.
///
/// Something has to serve the main queue: an app's run loop, `RunLoop.main.run()`, `dispatchMain()`, or an
/// asynchronous `main`.
public func onTheMainThread(_ block: @escaping @MainActor @Sendable () -> Void) {
    DispatchQueue.main.async { MainActor.assumeIsolated(block) }
}

/// Runs a block on the system's global concurrent queue, outside any operation queue.
public func inTheGlobalQueue(_ block: @escaping @Sendable () -> Void) {
    DispatchQueue.global().async(execute: block)
}
