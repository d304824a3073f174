import ErrandCommandLine
import ErrandRedis
import Foundation

/// Where a benchmark is run: on the server that is named, or on an embedded one that goes with it.
enum BenchPlace {
    /// Opens the broker, and says how worker processes reach it.
    static func with(
        _ options: BrokerOptions,
        _ body: (_ broker: RedisBroker, _ arguments: [String]) async throws -> Void
    ) async throws {
        let logger = CommandLogger.make("errand-bench")
        if let url = options.redis {
            let open = try options.open(as: "errand-bench", logger: logger)
            defer { open.close() }
            return try await body(open.broker, ["--redis", url])
        }
        if let directory = options.embedded {
            let open = try options.open(as: "errand-bench", logger: logger)
            defer { open.close() }
            return try await body(open.broker, ["--embedded", directory])
        }
        let home = try TemporaryBroker.open(as: "errand-bench", logger: logger)
        defer { home.close(keepingData: false) }
        try await body(home.broker, ["--embedded", home.directory])
    }
}
