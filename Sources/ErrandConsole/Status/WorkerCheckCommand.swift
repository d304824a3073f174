import ArgumentParser
import Errand
import ErrandCommandLine
import ErrandOperator
import ErrandRedis
import Foundation

/// The command `errand worker-check`.
struct WorkerCheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "worker-check",
        abstract: "Checks whether this machine has a live worker, for health checks of containers.",
        discussion: """
            A worker is alive if its last heartbeat is recent. The exit status is 0 if this machine has a live worker, and 1 \
            if it has none. If the broker cannot be reached, nothing is known about the worker: the exit status is then 0, \
            with a warning, because restarting workers does not bring a broker back.

            Examples:
              errand worker-check
              errand worker-check --host worker-3 --within 1m --json
            """
    )

    @Option(help: ArgumentHelp("The host name of the machine; this machine by default.", valueName: "name"))
    var host: String?

    @Option(
        help: ArgumentHelp("The largest age of the last heartbeat. (default: 30s)", valueName: "d"),
        transform: { try DurationArgument(parsing: $0) }
    )
    var within = DurationArgument(.seconds(30))

    @OptionGroup var options: ConsoleOptions

    func run() async throws {
        let host = host ?? ProcessInfo.processInfo.hostName
        let alive: Int
        do {
            // A health check has a time limit of a few seconds, and a timeout counts as the worker's death.
            let limit = Duration.milliseconds(1500)
            alive = try await options.broker.withBroker(as: "errand", patience: limit, timeout: limit, quiet: true) {
                broker in
                try await count(of: host, on: broker)
            }
        } catch let status as ExitCode where [ExitStatus.unavailable, ExitStatus.unknown].contains(status) {
            return StandardError.write("warning: the broker does not reply, so nothing is known about the worker")
        }
        let json: JSONOutput = ["host": .text(host), "alive": .count(alive)]
        StandardOutput.write(options.json ? json.bytes : Array("\(alive.counted("worker")) of \(host)".utf8))
        if alive == 0 { throw ExitStatus.unsuccessful }
    }

    /// Searches the queues one after the other for a session of this host. There may be many queues, so it stops at the
    /// first match.
    private func count(of host: String, on broker: any Broker) async throws(BrokerError) -> Int {
        let deadline = ContinuousClock.now + .seconds(3)
        var unreadable: BrokerError?
        for queue in try await queues(of: broker) {
            do throws(BrokerError) {
                let sessions = try await broker.status(of: queue).sessions
                let alive = sessions.count { $0.host == host && isFresh($0) }
                if alive > 0 { return alive }
            } catch {
                guard error.isOfOnePlace else { throw error }
                unreadable = unreadable ?? error
            }
            guard ContinuousClock.now < deadline else {
                throw BrokerError(.notReachable, "the broker takes too long to list its queues")
            }
        }
        // The worker may serve the queue that cannot be read.
        if let unreadable { throw BrokerError(.notReachable, "a queue cannot be read: \(unreadable.message)") }
        return 0
    }

    /// Returns the queues. A registry that cannot be read proves nothing about the worker, so it counts as an
    /// unreachable broker.
    private func queues(of broker: any Broker) async throws(BrokerError) -> [String] {
        do throws(BrokerError) { return try await broker.queues() } catch {
            guard error.code == .refused else { throw error }
            throw BrokerError(.notReachable, error.message)
        }
    }

    private func isFresh(_ session: SessionStatus) -> Bool {
        Duration.milliseconds(session.lastBeatMilliseconds) <= within.duration
    }
}
