import Errand
import ErrandCommandLine
import ErrandRedis
import Logging
import Synchronization

/// Warnings that a worker logs once after it has connected: server settings that endanger jobs, and stored schedules
/// that the catalogue no longer has. `errand doctor` reports more.
final class ServerWarnings: Sendable {
    private let broker: RedisBroker
    private let removed: RemovedSchedules
    private let logger: Logger
    private let isTold = Atomic(false)

    init(of broker: RedisBroker, _ removed: RemovedSchedules, to logger: Logger) {
        self.broker = broker
        self.removed = removed
        self.logger = logger
    }

    /// Checks the stored schedules and the server's settings in a background task, once, and logs warnings.
    func tellOnce() {
        guard !isTold.exchange(true, ordering: .relaxed) else { return }
        Task { [broker, removed, logger] in
            do throws(BrokerError) {
                for message in try await removed.find() { logger.warning("\(message)") }
            } catch {
                logger.debug("the queues' schedules could not be looked at", metadata: ["error": "\(error)"])
            }
            do throws(BrokerError) {
                for advice in try await ServerAdvice(broker: broker).warnings {
                    logger.warning("\(advice.message)", metadata: ["advice": "\(advice.kind)"])
                }
            } catch {
                logger.debug("the server's settings could not be looked at", metadata: ["error": "\(error)"])
            }
        }
    }
}
