package import ArgumentParser
import Errand
package import ErrandRedis
import Foundation
package import Logging

/// The options that say which broker is meant.
package struct BrokerOptions: ParsableArguments, Sendable {
    @Option(
        help: ArgumentHelp(
            "The broker: redis://[user[:password]@]host[:port][/db] or unix:///path/to/socket.",
            discussion: "Without it: $ERRAND_REDIS_URL, else $REDIS_URL, else the embedded broker.",
            valueName: "url"
        )
    )
    package var redis: String?

    @Option(help: ArgumentHelp("Use the embedded broker with its data in this directory.", valueName: "dir"))
    package var embedded: String?

    /// Makes empty options.
    package init() {}

    /// Checks that not both are given.
    package func validate() throws {
        if redis != nil, embedded != nil { throw ValidationError("--redis and --embedded exclude each other") }
    }
}

/// A broker that an executable works with, and what must be left in the end.
package struct OpenBroker: Sendable {
    /// The broker.
    package let broker: RedisBroker
    fileprivate let embedded: EmbeddedBroker?

    /// The directory of the embedded broker, if that is what is used.
    package var embeddedDirectory: String? { embedded?.directory }

    /// Closes the connection and leaves an embedded server.
    package func close() {
        broker.close()
        guard let embedded else { return }
        if let trouble = embedded.diskTrouble {
            StandardError.write(
                "warning: the embedded broker cannot write its data to \(embedded.directory) (\(trouble)): it goes on running until "
                    + "it can, with its last jobs in memory only. Make room on that disk, and do not stop it before",
                as: .warning
            )
        }
        embedded.leave()
    }
}

extension BrokerOptions {
    /// The URL that is named, by the option or by the environment; it may hold a password.
    package var url: String? {
        let environment = ProcessInfo.processInfo.environment
        let named = redis ?? environment["ERRAND_REDIS_URL"].nonEmpty ?? environment["REDIS_URL"].nonEmpty
        return embedded == nil ? named : nil
    }

    /// Whether the caller says which broker is meant.
    package var namesBroker: Bool { url != nil || embedded != nil }

    /// Opens the broker that is meant and says on standard error which one it is.
    ///
    /// - Parameters:
    ///   - patience: how long requests wait for a connection before they fail.
    ///   - timeout: how long connecting and an answer may take, if not as long as usual.
    ///   - confirmsWrites: whether the server is asked after each push if it could write it to its disk.
    ///   - onRefusal: called when a change is refused for the moment and will be tried again for longer than a second.
    package func open(
        as name: String,
        patience: Duration = .seconds(10),
        timeout: Duration? = nil,
        quiet: Bool = false,
        confirmsWrites: Bool = true,
        onRefusal: (@Sendable (_ reason: String, _ patience: Duration) -> Void)? = nil,
        logger: Logger
    ) throws -> OpenBroker {
        var options = ConnectionOptions(patience: patience, clientName: name, confirmsWrites: confirmsWrites)
        options.onRefusal = onRefusal
        if let timeout { (options.connectTimeout, options.commandTimeout) = (timeout, timeout) }
        if let url {
            let address: RedisAddress
            do { address = try RedisAddress(url: url) } catch {
                throw CommandFailure(error.message, redis == nil ? ExitStatus.badConfiguration : ExitStatus.usage)
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
