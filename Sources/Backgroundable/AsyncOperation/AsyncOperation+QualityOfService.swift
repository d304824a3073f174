import Foundation

extension AsyncOperation {
    /// The operation's quality of service, or that of the queue that runs the calling thread if it has none of its own.
    final var effectiveQualityOfService: QualityOfService {
        guard qualityOfService == .default else { return qualityOfService }
        return OperationQueue.current?.qualityOfService ?? .default
    }
}

extension QualityOfService {
    /// The priority of a task of this quality of service; nil if it has none.
    var taskPriority: TaskPriority? {
        switch self {
        case .userInteractive, .userInitiated: .userInitiated
        case .utility: .utility
        case .background: .background
        default: nil
        }
    }
}
