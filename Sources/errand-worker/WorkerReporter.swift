import Errand
import ErrandCommandLine
import Foundation
import Logging

/// A reporter of the worker's events: sentences on standard error, log entries if the log format is JSON, or JSON lines
/// on standard output.
struct WorkerReporter: Sendable {
    private let json: Bool
    private let log: Logger?

    init(json: Bool, logFormat: LogFormat) {
        self.json = json
        log = logFormat == .json ? CommandLogger.make("errand-worker", level: .info, format: .json) : nil
    }

    func tell(_ event: WorkerEvent) {
        switch event {
        case .registered(let session):
            say("registered", "worker \(session.id) serves \(session.queues.joined(separator: ", "))", session)
        case .sessionLost(let session):
            say("session_lost", "the broker no longer has worker \(session.id); registering again", session)
        case .waitingForBroker(let error):
            say("waiting", "waiting for the broker: \(error)", nil)
        case .stuck(let reason):
            say("stuck", "stuck: \(reason); exiting, so that its supervisor restarts it", nil)
        }
    }

    func tellStopping() { say("stopping", "stopping: claiming nothing more, waiting for running jobs", nil) }
    func tellStopped() { say("stopped", "stopped", nil) }

    private func say(_ event: String, _ sentence: String, _ session: Session?) {
        guard json else { return write(event, sentence, session) }
        let line = Line(event: event, worker: session?.id, queues: session?.queues, message: sentence)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        if let bytes = try? encoder.encode(line) { StandardOutput.tell(Array(bytes)) }
    }

    private func write(_ event: String, _ sentence: String, _ session: Session?) {
        guard let log else { return StandardError.write(sentence) }
        var metadata: Logger.Metadata = ["event": "\(event)"]
        if let session { metadata["worker.id"] = "\(session.id)" }
        log.info("\(sentence)", metadata: metadata)
    }

    private struct Line: Encodable {
        let event: String
        let worker: String?
        let queues: [String]?
        let message: String
    }
}
