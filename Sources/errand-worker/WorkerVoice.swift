import Errand
import ErrandCommandLine
import Foundation

/// Tells what happens to the worker: sentences on standard error, or JSON lines on standard output.
struct WorkerVoice: Sendable {
    private let json: Bool

    init(json: Bool) { self.json = json }

    func tell(_ event: WorkerEvent) {
        switch event {
        case .registered(let session):
            say("registered", "worker \(session.id) serves \(session.queues.joined(separator: ", "))", session)
        case .sessionLost(let session):
            say("session_lost", "the broker does not know worker \(session.id) any more; registering anew", session)
        case .waitingForBroker(let error):
            say("waiting", "waiting for the broker: \(error)", nil)
        case .stuck(let reason):
            say("stuck", "stuck: \(reason); ending, to be started anew", nil)
        }
    }

    func tellStopping() { say("stopping", "stopping: claiming nothing more, waiting for running jobs", nil) }
    func tellStopped() { say("stopped", "stopped", nil) }

    private func say(_ event: String, _ sentence: String, _ session: Session?) {
        guard json else { return StandardError.write(sentence) }
        let line = Line(event: event, worker: session?.id, queues: session?.queues, message: sentence)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        if let bytes = try? encoder.encode(line) { StandardOutput.write(Array(bytes)) }
    }

    private struct Line: Encodable {
        let event: String
        let worker: String?
        let queues: [String]?
        let message: String
    }
}
