import Errand
import ErrandText
import Logging

/// What is logged while there is no connection to a place, and when there is one again: one for all connections to it,
/// also if another server takes over there.
package final class Outage: Sendable {
    private static let name = "connection"
    // A restart of the server takes less time than that.
    private let failures = LastingFailures(patience: .seconds(1))

    package init() {}

    /// A connection was lost, or could not be made.
    func note(_ error: BrokerError, at address: RedisAddress, _ logger: Logger) {
        logger.log(
            level: failures.note(Self.name) ? .warning : .debug,
            error.code == .notReachable
                ? "the broker cannot be reached; calls wait for it" : "the broker rejects the connection",
            metadata: ["broker.address": "\(address)", "error": "\(error)"]
        )
    }

    /// There is a connection.
    func end(at address: RedisAddress, _ logger: Logger) { end("the broker is back", address, logger) }

    /// Other servers have taken over.
    func endBySuccession(of address: RedisAddress, _ logger: Logger) {
        end("the broker is back: other servers have the slots of a lost one", address, logger)
    }

    private func end(_ message: Logger.Message, _ address: RedisAddress, _ logger: Logger) {
        guard let lost = failures.clear(Self.name) else { return }
        let after = TimeSpanText.rounded(Int64(lost.wholeMilliseconds))
        logger.notice(message, metadata: ["broker.address": "\(address)", "after": "\(after)"])
    }
}
