/// The behaviour of a connection.
public struct ConnectionOptions: Sendable {
    /// The timeout for establishing a connection.
    public var connectTimeout: Duration
    /// The timeout for a reply of the server.
    public var commandTimeout: Duration
    /// How long a request waits for a connection before it fails with `notReachable`.
    public var patience: Duration
    /// The name in the server's client list. Only `[A-Za-z0-9_.-]` is kept.
    public var clientName: String
    /// Whether a change for a producer or an operator, above all a push, is followed by a check that the server could
    /// write it to its disk. If it could not, the call fails with `outcomeUnknown`.
    ///
    /// With `appendfsync everysec`, a server with a full disk acknowledges the first write that fails, and refuses only
    /// later ones. The check costs one round trip a call. `nil` enables it only for an embedded server.
    public var confirmsWrites: Bool?
    /// How many replicas must have a push before it counts as accepted: 0 to 32.
    ///
    /// A failover may lose what the server had acknowledged and no replica had. A push that too few replicas have within
    /// half of ``commandTimeout`` has the outcome `unknown`: the job is in the queue, and a failover may still lose it.
    /// Such pushes have a connection of their own, which waits for the replicas after each of them.
    public var replicas: Int {
        didSet { replicas = min(max(0, replicas), 32) }
    }
    /// Called if a change for a producer or an operator is refused temporarily and will be retried for longer than a
    /// second: with the reason, and the remaining patience.
    package var onRefusal: (@Sendable (_ reason: String, _ patience: Duration) -> Void)?

    /// Makes options.
    public init(
        connectTimeout: Duration = .seconds(5),
        commandTimeout: Duration = .seconds(10),
        patience: Duration = .seconds(10),
        clientName: String = "errand",
        confirmsWrites: Bool? = nil,
        replicas: Int = 0
    ) {
        self.connectTimeout = connectTimeout
        self.commandTimeout = commandTimeout
        self.patience = patience
        self.confirmsWrites = confirmsWrites
        self.replicas = min(max(0, replicas), 32)
        self.clientName = clientName.filter { $0.isASCII && ($0.isLetter || $0.isNumber || "_.-".contains($0)) }
    }
}
