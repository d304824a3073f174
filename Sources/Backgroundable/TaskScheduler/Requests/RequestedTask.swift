package import Foundation

/// The two kinds of tasks.
package enum TaskKind: String, Sendable, Codable {
    case refresh, processing

    /// The kind for people.
    var name: String {
        switch self {
        case .refresh: "app refresh"
        case .processing: "processing"
        }
    }
}

/// What a request asked for when it was submitted: a value that nobody can change any more.
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

    /// A request that asks for the same.
    package func makeRequest() -> TaskRequest {
        switch kind {
        case .refresh: AppRefreshTaskRequest(copying: self)
        case .processing: ProcessingTaskRequest(copying: self)
        }
    }

    /// The task that its handler gets.
    func makeTask() -> ScheduledTask {
        switch kind {
        case .refresh: AppRefreshTask(identifier: identifier)
        case .processing: ProcessingTask(identifier: identifier)
        }
    }
}
