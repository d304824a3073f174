import Foundation

/// What Foundation's queues need to notice a change of an operation.
extension AsyncOperation {
    enum Change {
        case willExecute, didExecute, finished, ready
    }

    /// What `OperationQueue` needs to notice a change. On Apple's systems that is key-value observing of both
    /// properties; on Linux a queue listens to `isFinished` only, and every other call would be wasted.
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
