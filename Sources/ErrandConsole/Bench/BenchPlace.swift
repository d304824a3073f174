import ErrandCommandLine
import ErrandRedis
import Foundation

/// The server of a benchmark: the one that the options name, or an embedded one, which ends with it.
enum BenchPlace {
    /// Opens the broker and passes it with the URL for worker processes.
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

    /// Encodes the address, because a directory's name may contain any character.
    private static func url(of broker: RedisBroker) -> String {
        let text = "\(broker.address)"
        return text.addingPercentEncoding(withAllowedCharacters: .urlFragmentAllowed) ?? text
    }
}
