import Logging
import Synchronization

/// Logs the state of a worker: what `errand-worker` says as well.
final class WorkerLog: Sendable {
    private let logger: Logger
    /// The id of the worker's last session.
    private let session = Mutex<String?>(nil)

    init(logger: Logger) { self.logger = logger }

    func log(_ event: WorkerEvent) {
        switch event {
        case .registered(let session):
            self.session.withLock { $0 = session.id }
            let queues = session.queues.joined(separator: ", ")
            write(.notice, "worker serves \(queues)", ["concurrency": "\(session.concurrency)"])
        case .queuesUnavailable(let queues):
            let names = queues.joined(separator: ", ")
            write(
                .warning,
                "the broker does not answer for some queues; the worker serves the others",
                ["queues": "\(names)"]
            )
        case .queueRegistered(let queue):
            write(.notice, "worker serves a queue for which the broker answers now", ["job.queue": "\(queue)"])
        case .sessionLost:
            write(.notice, "session lost: the broker no longer has this worker, which registers again")
        case .waitingForBroker(let error):
            write(.warning, "worker waits for the broker", ["error": "\(error)"])
        case .stuck(let reason):
            write(.error, "worker is stuck: handlers do not return", ["error": "\(reason)"])
        case .stopping:
            write(.notice, "worker stops: it claims nothing more and waits for its running jobs")
        case .stopped: write(.notice, "worker has stopped")
        }
    }

    private func write(_ level: Logger.Level, _ message: String, _ metadata: Logger.Metadata = [:]) {
        var metadata = metadata
        if let id = session.withLock({ $0 }) { metadata["worker.id"] = "\(id)" }
        logger.log(level: level, "\(message)", metadata: metadata)
    }
}
