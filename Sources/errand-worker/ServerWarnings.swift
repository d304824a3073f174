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
    /// `nil` once the worker has stopped.
    private let logger: Mutex<Logger?>
    private let hasWarned = Atomic(false)

    init(of broker: RedisBroker, _ removed: RemovedSchedules, to logger: Logger) {
        self.broker = broker
        self.removed = removed
        self.logger = Mutex(logger)
    }

    /// Checks the stored schedules and the server's settings in a background task, once, and logs warnings.
    func tellOnce() {
        guard !hasWarned.exchange(true, ordering: .relaxed) else { return }
        Task {
            do throws(BrokerError) {
                for message in try await removed.find() { log(.warning, message) }
            } catch {
                log(.debug, "the queues' schedules could not be read", ["error": "\(error)"])
            }
            do throws(BrokerError) {
                for advice in try await ServerAdvice(broker: broker).warnings {
                    log(.warning, advice.message, ["advice": "\(advice.kind)"])
                }
            } catch {
                log(.debug, "the server's settings could not be read", ["error": "\(error)"])
            }
        }
    }

    /// Logs nothing from now on, even if the background task still runs: the last line of a worker is that it has
    /// stopped.
    func end() { logger.withLock { $0 = nil } }

    private func log(_ level: Logger.Level, _ message: String, _ metadata: Logger.Metadata = [:]) {
        logger.withLock { $0?.log(level: level, "\(message)", metadata: metadata) }
    }
}
