import ErrandCommandLine
import ErrandRedis
import Foundation

/// Where a benchmark is run: on the server that is named, or on an embedded one that goes with it.
enum BenchPlace {
    /// Opens the broker, and says by which URL worker processes reach it.
    static func with<Value>(
        _ options: BrokerOptions,
        _ body: (_ broker: RedisBroker, _ url: String) async throws -> Value
    ) async throws -> Value {
        let logger = CommandLogger.make("errand-bench")
        if options.namesBroker {
            let open = try options.open(as: "errand-bench", confirmsWrites: false, logger: logger)
            defer { open.close() }
            return try await body(open.broker, options.url ?? url(of: open.broker))
        }
        let home = try TemporaryBroker.open(as: "errand-bench", confirmsWrites: false, logger: logger)
        defer { home.close(keepingData: false) }
        StandardError.write("broker: embedded, for this run only")
        return try await body(home.broker, url(of: home.broker))
    }

    /// A directory's name may hold anything.
    private static func url(of broker: RedisBroker) -> String {
        let text = "\(broker.address)"
        return text.addingPercentEncoding(withAllowedCharacters: .urlFragmentAllowed) ?? text
    }
}
