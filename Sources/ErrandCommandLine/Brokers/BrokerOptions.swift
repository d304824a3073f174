package import ArgumentParser
import Errand
package import ErrandRedis
import Foundation
package import Logging

/// The options that select a broker.
package struct BrokerOptions: ParsableArguments, Sendable {
    @Option(
        help: ArgumentHelp(
            "The broker: redis://[user[:password]@]host[:port][/db] or unix:///path/to/socket.",
            discussion: """
                Of a cluster: redis+cluster://host[:port],…; of sentinels: redis+sentinel://host[:port],…/MASTER.
                Without it: $ERRAND_REDIS_URL, else $REDIS_URL, else the embedded broker.
                """,
            valueName: "url"
        )
    )
    package var redis: String?

    @Option(help: ArgumentHelp("Use the embedded broker with its data in this directory.", valueName: "dir"))
    package var embedded: String?

    /// Makes empty options.
    package init() {}

    /// Checks that only one of them is given.
    package func validate() throws {
        if redis != nil, embedded != nil { throw ValidationError("--redis and --embedded exclude each other") }
    }
}

/// An open broker of an executable, and the embedded server that it must leave.
package struct OpenBroker: Sendable {
    /// The broker.
    package let broker: RedisBroker
    fileprivate let embedded: EmbeddedBroker?

    /// Closes the connection and leaves an embedded server.
    package func close() {
        broker.close()
        guard let embedded else { return }
        if let trouble = embedded.diskTrouble {
            StandardError.write(
                "warning: the embedded broker cannot write its data to \(embedded.directory) (\(trouble)): it keeps running until "
                    + "it can, with its last jobs in memory only. Make room on that disk, and do not stop it before",
                as: .warning
            )
        }
        embedded.leave()
    }
}

extension BrokerOptions {
    /// The URL from the option or the environment; it may contain a password.
    package var url: String? {
        embedded == nil ? given?.url : nil
    }

    /// The URL, and the option or the variable that has it.
    private var given: (source: String, url: String)? {
        if let redis { return ("--redis", redis) }
        let environment = ProcessInfo.processInfo.environment
        if let url = environment["ERRAND_REDIS_URL"].nonEmpty { return ("$ERRAND_REDIS_URL", url) }
        return environment["REDIS_URL"].nonEmpty.map { ("$REDIS_URL", $0) }
    }

    /// Whether the caller selects a broker.
    package var namesBroker: Bool { url != nil || embedded != nil }

    /// Opens the selected broker and reports its address on standard error.
    ///
    /// - Parameters:
    ///   - name: The name in the server's client list.
    ///   - patience: How long requests wait for a connection before they fail.
    ///   - timeout: The timeout of connecting and of replies, if not the default one.
    ///   - replicas: How many replicas must have a push before it counts as accepted.
    ///   - quiet: Whether to omit the report.
    ///   - confirmsWrites: Whether each push is followed by a check that the server could write it to its disk.
    ///   - onRefusal: Called if a change is refused temporarily and will be retried for longer than a second.
    ///   - logger: The logger of the connection.
    package func open(
        as name: String,
        patience: Duration = .seconds(10),
        timeout: Duration? = nil,
        replicas: Int = 0,
        quiet: Bool = false,
        confirmsWrites: Bool = true,
        onRefusal: (@Sendable (_ reason: String, _ patience: Duration) -> Void)? = nil,
        logger: Logger
    ) throws -> OpenBroker {
        var options = ConnectionOptions(patience: patience, clientName: name, confirmsWrites: confirmsWrites)
        options.onRefusal = onRefusal
        options.replicas = replicas
        if let timeout { (options.connectTimeout, options.commandTimeout) = (timeout, timeout) }
        if let url {
            let address: RedisAddress
            do { address = try RedisAddress(url: url) } catch {
                let message = (given.map { "\($0.source): " } ?? "") + error.message
                throw CommandFailure(message, redis == nil ? ExitStatus.badConfiguration : ExitStatus.usage)
            }
            if !quiet { StandardError.write("broker: \(address)") }
            return OpenBroker(broker: RedisBroker(address, options: options, logger: logger), embedded: nil)
        }
        let directory = embedded ?? EmbeddedBroker.defaultDirectory(environment: ProcessInfo.processInfo.environment)
        let joined = try EmbeddedBroker.join(directory)
        if !quiet { StandardError.write("broker: embedded, \(joined.directory)") }
        return OpenBroker(broker: RedisBroker(joined.address, options: options, logger: logger), embedded: joined)
    }
}

extension String? {
    fileprivate var nonEmpty: String? { self?.isEmpty == false ? self : nil }
}
