import ErrandRedis
import Synchronization
import TestSupport

/// How often each script was called, and how often a fault injected one of its calls.
final class ScriptCalls: Sendable {
    private let counts = Mutex<[String: Int]>([:])
    private let strikes = Mutex<[String: Int]>([:])
    private let struckPushes = Mutex<Set<[UInt8]>>([])
    private let struckExchanges = Mutex<Set<[UInt8]>>([])
    private static let names = Dictionary(uniqueKeysWithValues: Script.all.map { (Array($0.digest.utf8), $0.name) })
    private static let texts = Dictionary(uniqueKeysWithValues: Script.all.map { ($0.text, $0.name) })

    /// The digest by which a script is called; of no script it is in no request.
    static func digest(of name: String) -> String { Script.all.first { $0.name == name }?.digest ?? name }

    /// The script that a request calls; `nil` when it calls none.
    static func script(of request: ChaosProxy.Request) -> String? {
        let words = RESPFrame.words(of: request.bytes)
        guard words.count > 1 else { return nil }
        return names[words[1]] ?? texts[words[1]]
    }

    /// Notes a request; answers the script's name and how many calls of it came before, or `nil` when it calls none.
    func note(_ request: ChaosProxy.Request) -> (name: String, before: Int)? {
        guard let name = Self.script(of: request) else { return nil }
        return counts.withLock { counts in
            defer { counts[name, default: 0] += 1 }
            return (name, counts[name, default: 0])
        }
    }

    /// A fault strikes a call of a script.
    func injection(_ name: String, _ request: ChaosProxy.Request) {
        strikes.withLock { $0[name, default: 0] += 1 }
        if name == "push" { struckPushes.withLock { _ = $0.insert(request.bytes) } }
        if name == "exchange" { struckExchanges.withLock { _ = $0.insert(request.bytes) } }
    }

    /// How many exchanges that a fault injected brought jobs when they came through for the first time, whether anybody heard it or not.
    func claims(through proxy: ChaosProxy) -> Int {
        var waiting = struckExchanges.withLock { $0 }
        return proxy.passages.filter { waiting.remove($0.request.bytes) != nil && ScriptAnswer($0.answer).bringsClaims }
            .count
    }

    /// How often a fault injected a call of a script.
    func strikes(on name: String) -> Int { strikes.withLock { $0[name] ?? 0 } }

    /// How many pushes of one job that a fault injected the server answered so when they came through for the first time, whether
    /// anybody heard it or not: `d` dropped, `r` replaced, `n` deferred.
    func pushes(answered letter: Character, through proxy: ChaosProxy) -> Int {
        var waiting = struckPushes.withLock { $0 }
        var count = 0
        for passage in proxy.passages where !passage.answer.isEmpty && passage.answer.first != UInt8(ascii: "-") {
            guard waiting.remove(passage.request.bytes) != nil else { continue }
            // Behind a number the answer has one text a job.
            let verdict = passage.answerText.split(whereSeparator: \.isNewline).last
            if verdict?.first == letter { count += 1 }
        }
        return count
    }
}

extension ChaosProxy {
    /// Holds heartbeats back until its release: a worker that learns from one that its session is over reports nothing any more.
    func holdHeartbeats() { treat { ScriptCalls.script(of: $0) == "heartbeat" ? .hold : .pass } }

    /// Waits for two more heartbeats. Who has waited for jobs compares its account with the broker's when it gets some, and one that is
    /// stopped before it has would learn from that, too, that its session is over.
    func twoHeartbeats() async throws {
        let before = heartbeats
        try await eventually("the worker beats twice") { heartbeats >= before + 2 }
    }

    private var heartbeats: Int { passages.count { ScriptCalls.script(of: $0.request) == "heartbeat" } }
}

extension RedisServer {
    /// Makes it know every script, so that the first call of one is carried out, too, and not only answered with NOSCRIPT.
    func learnScripts() throws {
        for script in Script.all { try run("SCRIPT", "LOAD", String(decoding: script.text, as: UTF8.self)) }
    }
}
