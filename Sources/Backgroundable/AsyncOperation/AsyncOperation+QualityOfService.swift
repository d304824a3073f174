import Foundation

extension AsyncOperation {
    /// The operation's quality of service, or that of the current operation queue if the operation has the default one.
    final var effectiveQualityOfService: QualityOfService {
        guard qualityOfService == .default else { return qualityOfService }
        return OperationQueue.current?.qualityOfService ?? .default
    }
}

extension QualityOfService {
    /// The task priority for this quality of service, or nil for the default.
    var taskPriority: TaskPriority? {
        switch self {
        case .userInteractive, .userInitiated: .userInitiated
        case .utility: .utility
        case .background: .background
        default: nil
        }
    }
}
