import Errand

/// An error reply, by the word it begins with.
struct ServerError {
    let word: String
    let text: String

    init(_ text: String) {
        self.text = text
        word = String(text.prefix { $0 != " " })
    }

    /// Whether the request was certainly not carried out and the same request may succeed a little later.
    var isPassing: Bool {
        ["LOADING", "BUSY", "TRYAGAIN", "MISCONF", "MASTERDOWN", "CLUSTERDOWN", "NOREPLICAS", "READONLY"].contains(word)
            || text.contains("max number of clients")
    }

    /// Whether the server at this address will not do even if we wait: a replica, for instance.
    var wantsNewConnection: Bool { ["READONLY", "MASTERDOWN", "UNBLOCKED"].contains(word) }

    func brokerError(at address: RedisAddress) -> BrokerError {
        switch word {
        case "ERRANDLOST":
            return BrokerError(.sessionLost, "the broker does not know this session any more")
        case "ERRANDFULL":
            return BrokerError(.full, String(text.dropFirst(word.count + 1)) + "; wait, or raise the limit")
        case "OOM":
            return BrokerError(.full, "the broker's memory is full (maxmemory); nothing was taken")
        case "ERRAND":
            return BrokerError(.refused, String(text.dropFirst(word.count + 1)))
        case "NOAUTH", "WRONGPASS", "NOPERM":
            return BrokerError(.notPermitted, "\(address) does not permit this: \(text)")
        case "MOVED", "ASK", "CROSSSLOT", "CLUSTERDOWN":
            return BrokerError(.refused, "\(address) belongs to a cluster, which is not supported yet: \(word)")
        case "WRONGTYPE":
            return BrokerError(.refused, "a key of the queue has the wrong type; see `errand doctor`")
        default:
            if isPassing { return BrokerError(.notReachable, "\(address) cannot serve now: \(text)") }
            if text.contains("WRONGTYPE") {
                return BrokerError(.refused, "a key of the queue has the wrong type; see `errand doctor`")
            }
            if text.hasPrefix("ERR AUTH") || text.contains("without any password") {
                return BrokerError(.notPermitted, "\(address) refuses the credentials: \(text)")
            }
            return BrokerError(.refused, "\(address) refused: \(text)")
        }
    }
}
