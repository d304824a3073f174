import Backgroundable
import Foundation

/// The two jobs that a request becomes, one after the other.
///
/// The *launch* waits in the request's place: it holds the identifier as its name, so that a newer request replaces
/// it. A worker that claims it pushes the *run*, which does the work, and is done. A request that is submitted while
/// the run is under way therefore never meets it: replacing a job that runs would stop it. The run has a name of its
/// own, so that no two of an identifier run at once.
enum TaskStage: String {
    case launch, run

    /// The name of the operation, one for each identifier: only a worker that registered the identifier claims it.
    func operation(of identifier: String) -> String { "\(rawValue).\(identifier)" }

    /// The identifier that an operation's name says, if it is one of this stage.
    func identifier(in operation: String) -> String? {
        let prefix = "\(rawValue)."
        return operation.hasPrefix(prefix) ? String(operation.dropFirst(prefix.count)) : nil
    }

    /// Whether an identifier can stand in the names of operations.
    static func accepts(_ identifier: String) -> Bool {
        QueueName.isValid(TaskStage.launch.operation(of: identifier)) && !identifier.isEmpty
    }
}

/// The arguments of both jobs.
struct TaskPayload: Codable {
    var kind: String
    var requiresNetwork = false
    var requiresPower = false

    private enum CodingKeys: String, CodingKey {
        case kind
        case requiresNetwork = "requires_network"
        case requiresPower = "requires_power"
    }

    /// The payload of a job that only asks who holds a name, and is never to run.
    static let question = TaskPayload(kind: "question")
}

extension RequestedTask {
    /// Reads what a job says; nil for one that requests nothing.
    init?(_ arguments: JSONText, identifier: String, notBefore: Int64?) {
        guard let payload = try? arguments.decode(TaskPayload.self), let kind = TaskKind(rawValue: payload.kind) else {
            return nil
        }
        self.init(identifier, kind)
        earliestBeginDate = notBefore.map { Date(timeIntervalSince1970: Double($0) / 1000) }
        requiresNetworkConnectivity = payload.requiresNetwork
        requiresExternalPower = payload.requiresPower
    }

    private var payload: TaskPayload {
        TaskPayload(
            kind: kind.rawValue,
            requiresNetwork: requiresNetworkConnectivity,
            requiresPower: requiresExternalPower
        )
    }

    private var notBefore: Int64? { earliestBeginDate.map(DescriptionRules.notBefore) }

    /// The job that waits in the request's place.
    func launch(in queue: String) throws(DescriptionError) -> OperationDescription {
        try OperationDescription(
            TaskStage.launch.operation(of: identifier),
            encoding: payload,
            queue: queue,
            name: identifier,
            unique: .replace,
            notBefore: notBefore,
            id: JobIDGenerator.next()
        )
    }

    /// The job that does the work. Its id follows from the launch's, so that a launch that is repeated makes no other.
    func run(
        ofLaunch id: String,
        in queue: String,
        allowance: Duration?
    ) throws(DescriptionError) -> OperationDescription {
        try OperationDescription(
            TaskStage.run.operation(of: identifier),
            encoding: payload,
            queue: queue,
            name: "run \(identifier)",
            unique: .drop,
            timeout: min(allowance ?? .longest, .longest),
            retries: 0,
            id: id + "-run"
        )
    }
}

extension Duration {
    fileprivate static var longest: Duration { .milliseconds(DescriptionLimits.timeoutMilliseconds.upperBound) }
}
