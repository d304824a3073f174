import Errand
import ErrandRedis
import Logging
import ServiceLifecycle

/// Ends the program if the broker refuses it for good, for instance because its URL is that of no cluster, as a worker
/// ends. A broker that cannot be reached yet does not.
struct BrokerCheck: Service {
    private static let passing: [BrokerError.Code] = [.notReachable, .outcomeUnknown, .closed]

    let broker: RedisBroker
    let logger: Logger

    /// Checks until the broker has accepted the program, and then waits for the end of the program.
    func run() async throws {
        try await cancelWhenGracefulShutdown { try await check() }
        try? await gracefulShutdown()
    }

    private func check() async throws(BrokerError) {
        var isTold = false
        while !Task.isCancelled {
            do throws(BrokerError) { return try await broker.checkAddress() } catch {
                guard Self.passing.contains(error.code) else { throw error }
                if !isTold { logger.warning("no broker yet", metadata: ["error": "\(error)"]) }
                isTold = true
            }
            try? await Task.sleep(for: .seconds(2))
        }
    }
}
