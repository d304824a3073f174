import Errand
package import ErrandRedis

extension BrokerOptions {
    /// Opens the selected broker, passes it to a body, and closes it. Failures are reported as by
    /// ``reportingFailures(_:)``.
    ///
    /// - Parameters:
    ///   - name: The name in the server's client list.
    ///   - patience: How long requests wait for a connection before they fail.
    ///   - timeout: The timeout of connecting and of replies, if not the default one.
    ///   - replicas: How many replicas must have a push before it counts as accepted.
    ///   - quiet: Whether to omit the report of the broker in use.
    ///   - logFormat: The format of the connection's log.
    ///   - body: The work with the broker.
    package func withBroker<Value>(
        as name: String,
        patience: Duration = .seconds(10),
        timeout: Duration? = nil,
        replicas: Int = 0,
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
                replicas: replicas,
                quiet: quiet,
                onRefusal: { notice.tell($0, for: $1) },
                logger: logger
            )
            defer { open.close() }
            return try await body(open.broker)
        }
    }
}
