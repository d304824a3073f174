import Logging

/// Logs the state of a worker: what `errand-worker` says as well.
struct WorkerLog: Sendable {
    let logger: Logger

    func log(_ event: WorkerEvent) {
        switch event {
        case .registered(let session):
            logger.notice(
                "worker serves \(session.queues.joined(separator: ", "))",
                metadata: ["worker.id": "\(session.id)", "concurrency": "\(session.concurrency)"]
            )
        case .sessionLost(let session):
            logger.notice(
                "session lost: the broker no longer has this worker, which registers again",
                metadata: ["worker.id": "\(session.id)"]
            )
        case .waitingForBroker(let error):
            logger.warning("worker waits for the broker", metadata: ["error": "\(error)"])
        case .stuck(let reason):
            logger.error("worker is stuck: handlers do not return", metadata: ["error": "\(reason)"])
        case .stopping: logger.notice("worker stops: it claims nothing more and waits for its running jobs")
        case .stopped: logger.notice("worker has stopped")
        }
    }
}
