import Errand
import ErrandRedis

/// The longest call of a server while something is measured, from its slow log. Meanwhile it does not rewrite its
/// append-only file: its process copies each page that it writes to for as long as that takes, which no script can change.
struct SlowCalls {
    private let broker: RedisBroker

    /// Lets the benchmark's own server note calls of 0.1 ms and more from now on; `nil` for a server that others may use,
    /// whose settings and log are not touched.
    init?(_ stage: BenchStage) async throws(BrokerError) {
        guard stage.hasOwnServer else { return nil }
        broker = stage.broker
        try await run("CONFIG", "SET", "slowlog-log-slower-than", "100")
        try await run("CONFIG", "SET", "slowlog-max-len", "100000")
        try await run("CONFIG", "SET", Self.rewriting, "0")
        try await run("SLOWLOG", "RESET")
    }

    private static let rewriting = "auto-aof-rewrite-percentage"
    /// The server's default, with which the benchmark starts its own.
    private static let usual = "100"

    @discardableResult
    private func run(_ words: String...) async throws(BrokerError) -> RESPValue {
        var command = CommandWriter(capacity: 64)
        command.begin(words.count)
        for word in words { command.add(word) }
        return try await broker.command(command, for: .anywhere)
    }

    /// Returns the time of the longest script in milliseconds, and ends the measurement.
    func longest() async throws(BrokerError) -> Double {
        try await run("CONFIG", "SET", Self.rewriting, Self.usual)
        let entries = try await run("SLOWLOG", "GET", "100000").elements ?? []
        // Each has its number, its time, what it took in microseconds, and the command.
        let times = entries.compactMap(\.elements).filter { $0.count > 3 && Self.isScript($0[3]) }.compactMap(
            \.[2].number
        )
        return Double(times.max() ?? 0) / 1000
    }

    private static func isScript(_ command: RESPValue) -> Bool {
        ["EVALSHA", "EVAL"].contains(command.elements?.first?.text?.uppercased())
    }
}
