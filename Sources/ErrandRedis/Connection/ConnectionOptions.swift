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

    /// Makes options.
    public init(
        connectTimeout: Duration = .seconds(5),
        commandTimeout: Duration = .seconds(10),
        patience: Duration = .seconds(10),
        clientName: String = "errand"
    ) {
        self.connectTimeout = connectTimeout
        self.commandTimeout = commandTimeout
        self.patience = patience
        self.clientName = clientName.filter { $0.isASCII && ($0.isLetter || $0.isNumber || "_.-".contains($0)) }
    }
}
