import ErrandRedis
import Synchronization
import TestSupport

/// The numbers of calls of each script, and of those with an injected fault.
final class ScriptCalls: Sendable {
    private let counts = Mutex<[String: Int]>([:])
    private let injections = Mutex<[String: Int]>([:])
    private let injectedPushes = Mutex<Set<[UInt8]>>([])
    private let injectedExchanges = Mutex<Set<[UInt8]>>([])
    private static let names = Dictionary(uniqueKeysWithValues: Script.all.map { (Array($0.digest.utf8), $0.name) })
    private static let texts = Dictionary(uniqueKeysWithValues: Script.all.map { ($0.text, $0.name) })

    /// The digest of a script; for an unknown name, a text that is in no request.
    static func digest(of name: String) -> String { Script.all.first { $0.name == name }?.digest ?? name }

    /// The script that a request calls; `nil` if it calls none.
    static func script(of request: ChaosProxy.Request) -> String? {
        let words = RESPFrame.words(of: request.bytes)
        guard words.count > 1 else { return nil }
        return names[words[1]] ?? texts[words[1]]
    }

    /// Counts a request, and returns the script's name and the number of earlier calls; `nil` if it calls no script.
    func note(_ request: ChaosProxy.Request) -> (name: String, before: Int)? {
        guard let name = Self.script(of: request) else { return nil }
        return counts.withLock { counts in
            defer { counts[name, default: 0] += 1 }
            return (name, counts[name, default: 0])
        }
    }

    /// Records a fault in a call of a script.
    func injection(_ name: String, _ request: ChaosProxy.Request) {
        injections.withLock { $0[name, default: 0] += 1 }
        if name == "push" { injectedPushes.withLock { _ = $0.insert(request.bytes) } }
        if name == "exchange" { injectedExchanges.withLock { _ = $0.insert(request.bytes) } }
    }

    /// The number of affected exchanges that claimed jobs at their first execution, with or without a received reply.
    func claims(through proxy: ChaosProxy) -> Int {
        var waiting = injectedExchanges.withLock { $0 }
        return proxy.passages.filter { waiting.remove($0.request.bytes) != nil && ScriptAnswer($0.answer).bringsClaims }
            .count
    }

    /// The number of faults in calls of a script.
    func injections(of name: String) -> Int { injections.withLock { $0[name] ?? 0 } }

    /// The number of affected pushes of one job with this receipt at their first execution, received or
    /// not: `d` dropped, `r` replaced, `n` deferred.
    func pushes(answered letter: Character, through proxy: ChaosProxy) -> Int {
        var waiting = injectedPushes.withLock { $0 }
        var count = 0
        for passage in proxy.passages where !passage.answer.isEmpty && passage.answer.first != UInt8(ascii: "-") {
            guard waiting.remove(passage.request.bytes) != nil else { continue }
            // After a number, the reply has one text a job.
            let verdict = passage.answerText.split(whereSeparator: \.isNewline).last
            if verdict?.first == letter { count += 1 }
        }
        return count
    }
}

extension ChaosProxy {
    /// Holds back heartbeats until the release, because a worker that learns from one that its session is lost stops
    /// reporting.
    func holdHeartbeats() { treat { ScriptCalls.script(of: $0) == "heartbeat" ? .hold : .pass } }

    /// Waits for two more heartbeats. A worker that was idle reconciles when it gets jobs, and if it is suspended
    /// before that, the reconciliation would also tell it that its session is lost.
    func twoHeartbeats() async throws {
        let before = heartbeats
        try await eventually("the worker beats twice") { heartbeats >= before + 2 }
    }

    private var heartbeats: Int { passages.count { ScriptCalls.script(of: $0.request) == "heartbeat" } }
}

extension RedisServer {
    /// Loads every script, so that the first call of one is executed and not rejected with NOSCRIPT.
    func learnScripts() throws {
        for script in Script.all { try run("SCRIPT", "LOAD", String(decoding: script.text, as: UTF8.self)) }
    }
}
