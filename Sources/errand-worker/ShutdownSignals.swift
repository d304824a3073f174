import Errand
import Foundation
import Logging
import ServiceLifecycle
import UnixSignals

/// Runs a worker until it ends; the first signal asks it to, the second does not ask.
enum ShutdownSignals {
    static func run(_ worker: Worker, voice: WorkerVoice, logger: Logger) async throws {
        let group = ServiceGroup(
            configuration: .init(
                services: [.init(service: worker, successTerminationBehavior: .gracefullyShutdownGroup)],
                logger: logger
            )
        )
        let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint)
        let listening = Task {
            var isFirst = true
            for await signal in signals {
                // What is held goes back when the lease ends; children end with the process.
                if !isFirst { exit(128 + signal.rawValue) }
                isFirst = false
                voice.tellStopping()
                await group.triggerGracefulShutdown()
            }
        }
        defer { listening.cancel() }
        try await group.run()
    }
}
