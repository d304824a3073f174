import Errand
package import ErrandRedis

extension BrokerOptions {
    /// Opens the broker that is meant, works with it, and closes it; failures are told as by ``reportingFailures(_:)``.
    ///
    /// - Parameters:
    ///   - name: what the server's client list shows.
    ///   - patience: how long requests wait for a connection before they fail.
    ///   - timeout: how long connecting and an answer may take, if not as long as usual.
    ///   - quiet: whether to say which broker is in use.
    ///   - logFormat: how the log of the connection is written.
    ///   - body: what is done with the broker.
    package func withBroker<Value>(
        as name: String,
        patience: Duration = .seconds(10),
        timeout: Duration? = nil,
        quiet: Bool = false,
        logFormat: LogFormat = .text,
        _ body: (RedisBroker) async throws -> Value
    ) async throws -> Value {
        try await reportingFailures {
            let logger = CommandLogger.make(name, format: logFormat)
            let notice = WaitingNotice()
            let open = try open(
                as: name,
                patience: patience,
                timeout: timeout,
                quiet: quiet,
                onRefusal: { notice.tell($0, for: $1) },
                logger: logger
            )
            defer { open.close() }
            return try await body(open.broker)
        }
    }
}
