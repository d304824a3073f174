import Backgroundable
import Foundation

/// The two jobs of a request, which run one after the other.
///
/// The *launch* is the waiting request: its name is the identifier, so that a newer request replaces it. A worker that
/// claims it pushes the *run*, which does the work, and finishes. A request that is submitted during the run therefore
/// does not replace the run, which would stop it. The run has a name of its own, so that an identifier has only one run
/// at a time.
enum TaskStage: String {
    case launch, run

    /// Returns the name of the operation, one for each identifier: only a worker that has registered the identifier
    /// claims it.
    func operation(of identifier: String) -> String { "\(rawValue).\(identifier)" }

    /// Returns the identifier in an operation's name, if it is one of this stage.
    func identifier(in operation: String) -> String? {
        let prefix = "\(rawValue)."
        return operation.hasPrefix(prefix) ? String(operation.dropFirst(prefix.count)) : nil
    }

    /// Returns whether an identifier is valid in the names of operations.
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

    /// The payload of a job that only finds the holder of a name, and never runs.
    static let question = TaskPayload(kind: "question")
}

extension RequestedTask {
    /// Makes a request from a job's arguments; `nil` if they are not those of a request.
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

    /// Returns the job of the waiting request.
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

    /// Returns the job that does the work. Its id is derived from the launch's, so that a repeated launch does not
    /// create another.
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
