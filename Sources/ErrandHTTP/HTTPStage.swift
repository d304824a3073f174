/// The stage of a transfer.
enum HTTPStage {
    /// There is no connection to the server or the proxy yet.
    case connecting
    /// TLS is required and not established yet; libcurl does not report whether there is a connection.
    case securing
    /// The connection is established.
    case connected

    /// The text for a timeout in this stage.
    var silence: String {
        switch self {
        case .connecting: "no connection was made"
        case .securing: "no secure connection (TLS) was made"
        case .connected: "no response came"
        }
    }
}
