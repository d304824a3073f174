import TestSupport

/// The server's reply to a script, which shows what the call has changed.
struct ScriptAnswer {
    private let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Whether the call was executed at all.
    var isSuccess: Bool { !bytes.isEmpty && bytes.first != UInt8(ascii: "-") }

    /// The first number: the jobs that a recovery, a promotion, a reconciliation or a release has moved.
    var count: Int {
        let lines = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline)
        return lines.first { $0.hasPrefix(":") }.flatMap { Int($0.dropFirst()) } ?? 0
    }

    /// The number of accepted reports of an exchange.
    var countedReports: Int { isSuccess ? (words.first ?? []).filter { $0 == UInt8(ascii: "1") }.count : 0 }

    /// Whether an exchange has claimed jobs, because only then its claims have a token.
    var bringsClaims: Bool { isSuccess && words.count > 1 && !words[1].isEmpty }

    private var words: [[UInt8]] { RESPFrame.words(of: bytes) }
}

/// A call of the exchange script.
struct ExchangeRequest {
    /// The command, the script, the number of keys and the key come first.
    private static let arguments = 4
    private let words: [[UInt8]]

    /// Parses a request; `nil` if it calls no exchange.
    init?(_ request: ChaosProxy.Request) {
        guard ScriptCalls.script(of: request) == "exchange" else { return nil }
        words = RESPFrame.words(of: request.bytes)
    }

    /// Whether it wants jobs.
    var wantsClaims: Bool {
        let wanted = words.dropFirst(Self.arguments + 2).first ?? []
        return (Int(String(decoding: wanted, as: UTF8.self)) ?? 0) > 0
    }

    /// Whether it reports one of these jobs as released.
    func releases(_ ids: [String]) -> Bool {
        // A report begins with the id, the token and the verb.
        let ids = Set(ids.map { Array($0.utf8) })
        return zip(words, words.dropFirst(2)).contains { ids.contains($0) && $1 == [UInt8(ascii: "r")] }
    }
}
