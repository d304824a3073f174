import Errand
import ErrandRedis
import TestSupport

/// Direct writes to the server, like those of any client.
extension ScenarioContext {
    /// The full name of one of the queue's keys.
    static func key(_ name: String) -> String { KeySpace.key(of: queue) + ":" + name }

    /// Runs a command of bytes.
    @discardableResult
    func write(_ command: String, _ words: [[UInt8]]) async throws -> RESPValue {
        var writer = CommandWriter()
        writer.begin(words.count + 1)
        writer.add(command)
        for word in words { writer.add(word) }
        return try await operatorsBroker.command(writer, for: .anywhere)
    }

    /// Sends a session a forged dispatch of a job, with the right call number, but without the session's secret.
    func forgeDispatch(of job: JobEnvelope, to session: String) async throws {
        let asked = try await write(
            "HGET",
            [Array(ScenarioContext.key("session:\(session)").utf8), Array("call".utf8)]
        )
        guard case .bulk(let call) = asked, let number = Int(String(decoding: call, as: UTF8.self)) else { return }
        let secret = noise(16).map { String($0, radix: 16) }.joined()
        let words = "c\(secret) \(number + 1) \(ScenarioContext.now)000 \(job.id)\n"
        try await write(
            "PUBLISH",
            [Array(ScenarioContext.key("wakeups:\(session)").utf8), Array(words.utf8) + job.stored(readySince: 0)]
        )
    }

    /// Random bytes that the seed determines.
    func noise(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8(random(0...255)) } }

    /// A random value of a list, determined by the seed.
    func pick<Value>(_ values: [Value]) -> Value { values[random(0...values.count - 1)] }
}
