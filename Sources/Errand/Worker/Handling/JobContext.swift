public import Logging
import Synchronization

/// What a handler knows of the job that it runs.
public struct JobContext: Sendable {
    /// The job's id.
    public let id: String
    /// The operation.
    public let operation: String
    /// The job's name, if it has one.
    public let name: String?
    /// The queue it came from.
    public let queue: String
    /// Which attempt this is, from 1.
    public let attempt: Int
    /// The fence of this claim: it grows with every claim, so a store that keeps the greatest it has seen can refuse
    /// what a worker writes that was cut off meanwhile.
    public let token: Token
    /// The arguments.
    public let arguments: JSONText
    /// When the run times out.
    public let deadline: ContinuousClock.Instant
    let workerLogger: Logger
    let stopFlag: StopFlag

    /// A logger that names the job.
    ///
    /// Made anew whenever it is asked for, so that jobs that log nothing pay nothing; who logs often keeps it in a
    /// variable.
    public var logger: Logger {
        var logger = workerLogger
        logger[metadataKey: "job.id"] = "\(id)"
        logger[metadataKey: "job.operation"] = "\(operation)"
        return logger
    }

    /// Whether the run is to stop: it timed out, was cancelled, or the worker stops.
    public var isCancelled: Bool { stopFlag.isSet }
}

/// Set once when a run is to stop; a blocking handler looks at it.
final class StopFlag: Sendable {
    private let flag = Atomic(false)
    var isSet: Bool { flag.load(ordering: .acquiring) }
    func set() { flag.store(true, ordering: .releasing) }
}
