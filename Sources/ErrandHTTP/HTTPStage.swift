/// How far a transfer has come.
enum HTTPStage {
    /// There is no connection to the server or the proxy.
    case connecting
    /// There is none that is secured by TLS, as it has to be; libcurl does not say whether there is one at all.
    case securing
    /// The request can be sent, or was.
    case connected

    /// What did not happen, if time ran out there.
    var silence: String {
        switch self {
        case .connecting: "no connection came about"
        case .securing: "no secure connection (TLS) came about"
        case .connected: "no answer came"
        }
    }
}
