import ArgumentParser
import Errand
import ErrandCommandLine
import ErrandRedis
import Foundation
import Logging

/// The names of queues for a shell that completes a command.
enum QueueCompletion {
    /// Lists the queues of the broker that the command line or the environment selects.
    static let kind = CompletionKind.custom { words, _, _ in await queues(for: words) }

    private static func queues(for words: [String]) async -> [String] {
        var options = BrokerOptions()
        (options.redis, options.embedded) = (value(of: "--redis", in: words), value(of: "--embedded", in: words))
        guard options.namesBroker || hasEmbeddedBroker else { return [] }
        // A key press must not wait long, and must print nothing but the names.
        let limit = Duration.seconds(1)
        let logger = Logger(label: "errand") { _ in SwiftLogNoOpLogHandler() }
        let open = try? options.open(
            as: "errand",
            patience: limit,
            timeout: limit,
            quiet: true,
            logger: logger
        )
        guard let open else { return [] }
        defer { open.close() }
        return (try? await open.broker.queues()) ?? []
    }

    /// Whether this user has an embedded broker. A key press must not make one.
    private static var hasEmbeddedBroker: Bool {
        let directory = EmbeddedBroker.defaultDirectory(environment: ProcessInfo.processInfo.environment)
        return FileManager.default.fileExists(atPath: directory)
    }

    /// Returns the value of an option, as in `--redis URL` or `--redis=URL`.
    private static func value(of option: String, in words: [String]) -> String? {
        if let joined = words.last(where: { $0.hasPrefix("\(option)=") }) {
            return String(joined.dropFirst(option.count + 1))
        }
        guard let index = words.lastIndex(of: option), words.indices.contains(index + 1) else { return nil }
        return words[index + 1]
    }
}
