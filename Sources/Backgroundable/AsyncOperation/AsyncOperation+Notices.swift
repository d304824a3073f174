import Foundation

/// The notifications that Foundation's queues need.
extension AsyncOperation {
    enum Change {
        case willExecute, didExecute, finished, ready
    }

    /// Notifies `OperationQueue` of a change.
    ///
    /// Apple's systems observe the keys of both properties. On Linux a queue observes `isFinished` and `isReady` only,
    /// so the other notifications are left out.
    final func notify(_ change: Change) {
        #if canImport(ObjectiveC)
            switch change {
            case .willExecute: willChangeValue(forKey: "isExecuting")
            case .didExecute: didChangeValue(forKey: "isExecuting")
            case .finished:
                willChangeValue(forKey: "isExecuting")
                willChangeValue(forKey: "isFinished")
                didChangeValue(forKey: "isFinished")
                didChangeValue(forKey: "isExecuting")
            case .ready:
                willChangeValue(forKey: "isReady")
                didChangeValue(forKey: "isReady")
            }
        #else
            switch change {
            case .willExecute, .didExecute: break
            case .finished: didChangeValue(forKey: "isFinished")
            case .ready: didChangeValue(forKey: "isReady")
            }
        #endif
    }
}
