import Errand
import ErrandCommandLine
import Foundation

/// A change of the worker's state as a line of JSON on standard output, for programs.
struct WorkerReport: Encodable {
    private let event: String
    private let worker: String?
    private let queues: [String]?
    private let message: String

    init(_ event: WorkerEvent) {
        switch event {
        case .registered(let session):
            let queues = session.queues.joined(separator: ", ")
            self.init("registered", "worker \(session.id) serves \(queues)", session.queues, session)
        case .queuesUnavailable(let queues):
            let names = queues.joined(separator: ", ")
            self.init("queues_unavailable", "the broker does not answer for \(names); serving the others", queues)
        case .queueRegistered(let queue): self.init("queue_registered", "serving \(queue) as well", [queue])
        case .sessionLost(let session):
            self.init(
                "session_lost",
                "the broker no longer has worker \(session.id); registering again",
                session.queues,
                session
            )
        case .waitingForBroker(let error): self.init("waiting", "waiting for the broker: \(error)")
        case .stuck(let reason): self.init("stuck", "stuck: \(reason); exiting, so that its supervisor restarts it")
        case .stopping: self.init("stopping", "stopping: claiming nothing more, waiting for running jobs")
        case .stopped: self.init("stopped", "stopped")
        }
    }

    private init(_ event: String, _ message: String, _ queues: [String]? = nil, _ session: Session? = nil) {
        self.event = event
        self.message = message
        self.queues = queues
        worker = session?.id
    }

    func write() {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        if let bytes = try? encoder.encode(self) { StandardOutput.tell(Array(bytes)) }
    }
}
