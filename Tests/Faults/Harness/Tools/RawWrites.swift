import ErrandRedis
import TestSupport

/// Writing past Errand, as anybody can who reaches the server.
extension Play {
    /// The full name of one of the queue's keys.
    static func key(_ name: String) -> String { KeySpace.key(of: queue) + ":" + name }

    /// Runs a command of bytes.
    @discardableResult
    func write(_ command: String, _ words: [[UInt8]]) async throws -> RESPValue {
        var writer = CommandWriter()
        writer.begin(words.count + 1)
        writer.add(command)
        for word in words { writer.add(word) }
        return try await operatorsBroker.command(writer)
    }

    /// Bytes that the seed determines.
    func noise(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8(random(0...255)) } }

    /// One of some values, by the seed.
    func pick<Value>(_ values: [Value]) -> Value { values[random(0...values.count - 1)] }
}
