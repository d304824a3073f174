import Errand
import ErrandCommandLine
import ErrandRedis
import Logging
import Synchronization

/// Says once, when a worker has found its broker, which of the server's settings endanger jobs, and which schedules the
/// catalogue no longer has. `errand doctor` says more.
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

    /// Asks the server, beside whatever else goes on.
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
