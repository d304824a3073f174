package import Errand
import ErrandText

/// An error reply, by the word it begins with.
package struct ServerError {
    /// The word it begins with.
    package let word: String
    /// The whole error, on one line and without control characters.
    package let text: String

    /// Most characters of an error that are shown.
    private static let most = 500

    /// Takes what the server said; a hostile one may have said anything.
    package init(_ text: String) {
        let shown = text.utf8.count > Self.most ? String(text.unicodeScalars.prefix(Self.most)) + "…" : text
        self.text = shown.printable
        word = String(self.text.prefix { $0 != " " })
    }

    /// Whether the request was certainly not carried out and the same request may succeed a little later.
    var isPassing: Bool {
        ["LOADING", "BUSY", "TRYAGAIN", "MISCONF", "MASTERDOWN", "CLUSTERDOWN", "NOREPLICAS", "READONLY"].contains(word)
    }

    /// Whether the server at this address will not do even if we wait: a replica, for instance.
    var wantsNewConnection: Bool { ["READONLY", "MASTERDOWN", "UNBLOCKED"].contains(word) }

    /// The error for callers: its kind, and what was refused in words for people.
    package func brokerError(at address: RedisAddress) -> BrokerError {
        switch word {
        case "ERRANDLOST":
            return BrokerError(.sessionLost, "the broker does not know this session any more")
        case "ERRANDFULL":
            return BrokerError(.full, String(text.dropFirst(word.count + 1)) + "; wait, or raise the limit")
        case "OOM":
            return BrokerError(.full, "the broker's memory is full (maxmemory); nothing was taken")
        case "ERRAND":
            let reason = String(text.dropFirst(word.count + 1))
            return BrokerError(.refused, reason.isEmpty ? "\(address) refused, and says no reason" : reason)
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
