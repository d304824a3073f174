package import Errand
import ErrandText

/// An error reply, classified by its first word.
package struct ServerError {
    /// The first word.
    package let word: String
    /// The whole error on one line, without control characters and without a final full stop: it is used within
    /// sentences.
    package let text: String

    /// The maximum number of characters that are shown.
    private static let most = 500

    /// Makes an error from the server's text; a hostile server may send any text.
    package init(_ text: String) {
        let line = text.shortened(to: Self.most).printable
        self.text = line.hasSuffix(".") ? String(line.dropLast()) : line
        word = String(self.text.prefix { $0 != " " })
    }

    /// Whether the request was certainly not carried out, and may succeed a little later.
    var isPassing: Bool {
        ["LOADING", "BUSY", "MISCONF", "MASTERDOWN", "NOREPLICAS", "READONLY"].contains(word) || isOfCluster
            || text.contains("max number of clients")
    }

    /// Whether another server has the keys. `ASK` is not among the errors that lead to another server: while a slot
    /// migrates, a script needs all keys of its queue in one place, so the caller waits for the end.
    var isMoved: Bool { word == "MOVED" }

    /// Whether no server of the cluster can serve the keys now: their slot migrates, or its master is lost.
    var isOfCluster: Bool { ["ASK", "TRYAGAIN", "CLUSTERDOWN"].contains(word) }

    /// Whether the server refuses writes because it cannot write its own data to its disk.
    var isDiskTrouble: Bool { word == "MISCONF" }

    /// The reason for a retry, in a few words.
    var reasonToWait: String {
        isDiskTrouble
            ? "the server rejects writes, because it cannot write its data to its disk"
            : "the server cannot serve this now (\(word))"
    }

    /// Whether the error concerns only this command: the user may not call it, or the server does not have it.
    var isOfOneCommand: Bool { word == "NOPERM" || (word == "ERR" && !refusesEverything) }

    /// Whether the server does not have the command.
    var isOfUnknownCommand: Bool { text.hasPrefix("ERR unknown command") }

    /// Whether the server may reply with this error to any command, even a PING.
    var refusesEverything: Bool {
        ["LOADING", "BUSY", "MISCONF", "MASTERDOWN", "NOAUTH", "NOPERM"].contains(word)
            || text.contains("max number of clients")
    }

    /// Whether waiting for this server is useless, for example because it is a replica.
    var wantsNewConnection: Bool { ["READONLY", "MASTERDOWN", "UNBLOCKED"].contains(word) }

    /// Returns the error for callers: its code, and a description of the refusal.
    ///
    /// - Parameter isForeign: Whether another library's data was read, to which Errand's doctor and access list do not
    ///   apply.
    package func brokerError(
        at address: RedisAddress,
        in script: Script? = nil,
        isForeign: Bool = false
    ) -> BrokerError {
        switch word {
        case "NOPERM" where isForeign:
            return BrokerError(
                .notPermitted,
                "\(address) does not permit this user a command that the import needs: \(text). Use another user"
            )
        case "WRONGTYPE" where isForeign: return BrokerError(.refused, "\(address): \(reasonInScript)")
        case "ERRANDLOST":
            return BrokerError(.sessionLost, "the broker does not know this session any more")
        case "ERRANDFULL":
            return BrokerError(full: text.dropFirst(word.count + 1))
        case "ERRANDQUEUE":
            return BrokerError(missingQueue: String(text.dropFirst(word.count + 1)))
        case "OOM":
            return BrokerError(
                .full,
                "\(address) has no memory left (maxmemory), so nothing was accepted; raise maxmemory, or let workers run or "
                    + "delete jobs, then try again"
            )
        case "ERRAND":
            let reason = String(text.dropFirst(word.count + 1))
            return BrokerError(.refused, reason.isEmpty ? "\(address) rejected the call without a reason" : reason)
        case "NOAUTH", "WRONGPASS": return refusedCredentials(at: address)
        case "NOPERM":
            return notPermitted(at: address, in: script)
        case "MOVED", "ASK", "TRYAGAIN": return misplaced(at: address)
        case "WRONGTYPE":
            return BrokerError(.refused, "\(address): \(reasonInScript). See `errand doctor`")
        default: return unknownError(at: address, in: script)
        }
    }

    /// The error for a call of a user that the server does not know.
    private func refusedCredentials(at address: RedisAddress) -> BrokerError {
        let reason =
            word == "NOAUTH"
            ? "needs a password; put :password@ or user:password@ after the slashes of the URL (\(text))"
            : "rejects the user or password of the URL: \(text)"
        return BrokerError(.notPermitted, "\(address) \(reason)")
    }

    /// The error for a call to a server of a cluster that does not have the queue, or not the whole of it.
    private func misplaced(at address: RedisAddress) -> BrokerError {
        let reason =
            word == "MOVED"
            ? "the servers of the cluster disagree on which of them has a queue; try again when its failover or resharding is "
                + "over: \(address): \(text)"
            : "\(address) cannot serve now, because the queue is being moved to another server of the cluster; try again: "
                + text
        return BrokerError(.notReachable, reason, concernsOneQueue: true)
    }

    /// The error for a reply without a word that tells what it is.
    private func unknownError(at address: RedisAddress, in script: Script?) -> BrokerError {
        if isDiskTrouble {
            return BrokerError(
                .notReachable,
                "\(address) cannot write its data to its disk, and rejects writes until it can: \(text). "
                    + "Free space on the server's disk, or see its log; nothing was done"
            )
        }
        if word == "READONLY" {
            return BrokerError(
                .notReachable,
                "\(address) is a replica, which takes no writes: a failover may be under way, or the URL names the replica "
                    + "instead of its master (\(text))"
            )
        }
        if isPassing { return BrokerError(.notReachable, "\(address) cannot serve now: \(text)") }
        if text.contains("Error compiling script") {
            return BrokerError(
                .refused,
                "\(address) cannot run Errand's scripts; Redis 7 or newer, or Valkey, is needed (redis-server --version shows "
                    + "which one it is): \(text)"
            )
        }
        if isMissingPermissionInScript { return notPermitted(at: address, in: script) }
        if text.contains("WRONGTYPE") {
            return BrokerError(.refused, "\(address): a key of the queue has the wrong type. See `errand doctor`")
        }
        if text.hasPrefix("ERR AUTH") || text.contains("without any password") {
            return BrokerError(
                .notPermitted,
                "\(address) rejects the user or password of the URL; leave them out if the server has none: \(text)"
            )
        }
        return BrokerError(.refused, "\(address) rejected the call: \(text)")
    }
}

extension ServerError {
    /// Whether a script used a command, a key or a channel without its user's permission. The first text is that of
    /// Redis 7.0, the second that of newer versions and of Valkey.
    private var isMissingPermissionInScript: Bool {
        ["ERR The user executing the script can't", "ERR ACL failure in script"].contains { text.hasPrefix($0) }
    }

    /// Returns an error that describes the missing permission. Retries would not help, so there are none.
    private func notPermitted(at address: RedisAddress, in script: Script?) -> BrokerError {
        var what = text
        if let script, let line = lineInScript.flatMap({ script.line($0) }) {
            what = "the script \(script.name) at `\(line)`: \(text)"
        }
        return BrokerError(
            .notPermitted,
            "\(address) does not permit this user a command that Errand needs: \(what). deploy/redis/errand.acl lists all of them"
        )
    }

    /// The text of the error without its first word and without the position in a script.
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
    /// Parses the text after `ERRANDFULL`: after a refused push, the number of its jobs that fit, and the reason.
    fileprivate init(full text: Substring) {
        let first = text.prefix { $0 != " " }
        let fitting = Int(first).flatMap { $0 < 0 ? nil : $0 }
        let reason = fitting == nil ? text : text.dropFirst(first.count + 1)
        self.init(.full, reason.isEmpty ? "it is full" : String(reason), fitting: fitting)
    }
}

extension Script {
    /// Returns a line of the text, counted from 1.
    fileprivate func line(_ number: Int) -> String? {
        let lines = text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        guard lines.indices.contains(number - 1) else { return nil }
        return String(decoding: lines[number - 1], as: UTF8.self).trimmingPrefix { $0 == " " }.description
    }
}
