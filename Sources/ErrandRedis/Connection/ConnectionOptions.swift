/// How a connection behaves.
public struct ConnectionOptions: Sendable {
    /// How long making a connection may take.
    public var connectTimeout: Duration
    /// How long the server may take to answer.
    public var commandTimeout: Duration
    /// How long a request waits for a connection before it fails with `notReachable`.
    public var patience: Duration
    /// What the server's client list shows. Only `[A-Za-z0-9_.-]` is kept.
    public var clientName: String
    /// Whether a call that changes something for a producer or an operator, a push above all, is followed by a question
    /// whether the server could write it to its disk; `outcomeUnknown` where it could not.
    ///
    /// With `appendfsync everysec` a server whose disk has become full acknowledges the first write that fails, and refuses
    /// only those after it. Costs a round trip a call. `nil`: only for an embedded server.
    public var confirmsWrites: Bool?
    /// Called when a change for a producer or an operator is refused for the moment and will be tried again for longer than a
    /// second: the reason, and for how long at the most.
    package var onRefusal: (@Sendable (_ reason: String, _ patience: Duration) -> Void)?

    /// Makes options.
    public init(
        connectTimeout: Duration = .seconds(5),
        commandTimeout: Duration = .seconds(10),
        patience: Duration = .seconds(10),
        clientName: String = "errand",
        confirmsWrites: Bool? = nil
    ) {
        self.connectTimeout = connectTimeout
        self.commandTimeout = commandTimeout
        self.patience = patience
        self.confirmsWrites = confirmsWrites
        self.clientName = clientName.filter { $0.isASCII && ($0.isLetter || $0.isNumber || "_.-".contains($0)) }
    }
}
