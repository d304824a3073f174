package import Foundation

/// The two kinds of tasks.
package enum TaskKind: String, Sendable, Codable {
    case refresh, processing

    /// The name of the kind, for log texts.
    var name: String {
        switch self {
        case .refresh: "app refresh"
        case .processing: "processing"
        }
    }
}

/// An immutable copy of a request, made when it was submitted.
package struct RequestedTask: Sendable, Equatable {
    package let identifier: String
    package let kind: TaskKind
    package var earliestBeginDate: Date?
    package var requiresNetworkConnectivity = false
    package var requiresExternalPower = false

    package init(_ identifier: String, _ kind: TaskKind) {
        self.identifier = identifier
        self.kind = kind
    }

    /// Creates a request with the same values.
    package func makeRequest() -> TaskRequest {
        switch kind {
        case .refresh: AppRefreshTaskRequest(copying: self)
        case .processing: ProcessingTaskRequest(copying: self)
        }
    }

    /// Creates the task for the handler.
    func makeTask() -> ScheduledTask {
        switch kind {
        case .refresh: AppRefreshTask(identifier: identifier)
        case .processing: ProcessingTask(identifier: identifier)
        }
    }
}
