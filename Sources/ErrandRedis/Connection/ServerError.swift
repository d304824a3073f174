package import Errand
import ErrandText

/// An error reply, by the word it begins with.
package struct ServerError {
    /// The word it begins with.
    package let word: String
    /// The whole error, on one line, without control characters and without a full stop: sentences go on after it.
    package let text: String

    /// Most characters of an error that are shown.
    private static let most = 500

    /// Takes what the server said; a hostile one may have said anything.
    package init(_ text: String) {
        let shown = text.utf8.count > Self.most ? String(text.unicodeScalars.prefix(Self.most)) + "…" : text
        let line = shown.printable
        self.text = line.hasSuffix(".") ? String(line.dropLast()) : line
        word = String(self.text.prefix { $0 != " " })
    }

    /// Whether the request was certainly not carried out and the same request may succeed a little later.
    var isPassing: Bool {
        ["LOADING", "BUSY", "TRYAGAIN", "MISCONF", "MASTERDOWN", "CLUSTERDOWN", "NOREPLICAS", "READONLY"].contains(word)
            || text.contains("max number of clients")
    }

    /// Whether the server refuses writes because it cannot write its own data to its disk.
    var isDiskTrouble: Bool { word == "MISCONF" }

    /// Why a call is tried again, in a few words.
    var reasonToWait: String {
        isDiskTrouble
            ? "the server takes no writes, for it cannot write its data to its disk"
            : "the server cannot serve this now (\(word))"
    }

    /// Whether it concerns this one command: the user may not call it, or the server does not have it.
    var isOfOneCommand: Bool { word == "NOPERM" || (word == "ERR" && !refusesEverything) }

    /// Whether the server may answer this to anything, also to a mere PING.
    var refusesEverything: Bool {
        ["LOADING", "BUSY", "MISCONF", "MASTERDOWN", "NOAUTH", "NOPERM"].contains(word)
            || text.contains("max number of clients")
    }

    /// Whether the server at this address will not do even if we wait: a replica, for instance.
    var wantsNewConnection: Bool { ["READONLY", "MASTERDOWN", "UNBLOCKED"].contains(word) }

    /// The error for callers: its kind, and what was refused in words for people.
    ///
    /// - Parameter isForeign: whether another library's data was asked for, about which Errand's doctor and access list say
    ///   nothing.
    package func brokerError(
        at address: RedisAddress,
        in script: Script? = nil,
        isForeign: Bool = false
    ) -> BrokerError {
        switch word {
        case "NOPERM" where isForeign:
            return BrokerError(
                .notPermitted,
                "\(address) does not permit this user what the import needs: \(text). Use a user that may do it"
            )
        case "WRONGTYPE" where isForeign: return BrokerError(.refused, "\(address): \(reasonInScript)")
        case "ERRANDLOST":
            return BrokerError(.sessionLost, "the broker does not know this session any more")
        case "ERRANDFULL":
            return BrokerError(full: text.dropFirst(word.count + 1))
        case "ERRANDQUEUE":
            return BrokerError(missingQueue: String(text.dropFirst(word.count + 1)))
        case "OOM":
            return BrokerError(.full, "the broker's memory is full (maxmemory); nothing was taken")
        case "ERRAND":
            let reason = String(text.dropFirst(word.count + 1))
            return BrokerError(.refused, reason.isEmpty ? "\(address) refused, and says no reason" : reason)
        case "NOAUTH", "WRONGPASS":
            return BrokerError(.notPermitted, "\(address) does not let this user in: \(text)")
        case "NOPERM":
            return notPermitted(at: address, in: script)
        case "MOVED", "ASK", "CROSSSLOT", "CLUSTERDOWN":
            return BrokerError(.refused, "\(address) belongs to a cluster, which is not supported yet: \(word)")
        case "WRONGTYPE":
            return BrokerError(.refused, "\(address): \(reasonInScript). See `errand doctor`")
        default:
            if isDiskTrouble {
                return BrokerError(
                    .notReachable,
                    "\(address) cannot write its data to its disk, and takes nothing until it can: \(text). "
                        + "Make room on the server's disk, or see its log; nothing was done"
                )
            }
            if isPassing { return BrokerError(.notReachable, "\(address) cannot serve now: \(text)") }
            if text.contains("The user executing the script can't") { return notPermitted(at: address, in: script) }
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

extension ServerError {
    /// Says which permission is missing. Trying again does not help, so nobody does.
    private func notPermitted(at address: RedisAddress, in script: Script?) -> BrokerError {
        var what = text
        if let script, let line = lineInScript.flatMap({ script.line($0) }) {
            what = "the script \(script.name) at `\(line)`: \(text)"
        }
        return BrokerError(
            .notPermitted,
            "\(address) does not permit this user what Errand needs: \(what). deploy/redis/errand.acl has all that is needed"
        )
    }

    /// What the error says, without its word and without where a script stopped.
    var reasonInScript: String {
        let reason = text.dropFirst(word.count + 1)
        guard let mark = reason.firstRange(of: " script: ") else { return String(reason) }
        return String(reason[..<mark.lowerBound])
    }

    /// The line at which a script stopped: `…, on @user_script:27.`
    private var lineInScript: Int? {
        guard let mark = text.firstRange(of: "@user_script:") else { return nil }
        return Int(text[mark.upperBound...].prefix { $0.isASCII && $0.isNumber })
    }
}

extension BrokerError {
    /// Reads what follows `ERRANDFULL`: after a refused push, how many of its jobs fit, and the reason.
    fileprivate init(full text: Substring) {
        let first = text.prefix { $0 != " " }
        let fitting = Int(first)
        self.init(.full, String(fitting == nil ? text : text.dropFirst(first.count + 1)), fitting: fitting)
    }
}

extension Script {
    /// A line of the text, counted from 1.
    fileprivate func line(_ number: Int) -> String? {
        let lines = text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        guard lines.indices.contains(number - 1) else { return nil }
        return String(decoding: lines[number - 1], as: UTF8.self).trimmingPrefix { $0 == " " }.description
    }
}
