package import ErrandRedis
import Synchronization

/// A notice on a terminal that a broker has not replied for a second, because a silent command looks stuck.
package final class ReplyNotice: Sendable {
    private static let patience = Duration.seconds(1)

    private let hasReplied = Mutex(false)

    /// Runs a body, and reports on standard error if the broker does not reply within a second. It does nothing unless
    /// standard error is a terminal.
    package static func whileWaiting<Value>(
        for broker: RedisBroker,
        _ body: () async throws -> Value
    ) async throws -> Value {
        guard Terminal.readsStandardError, !StandardError.writesEntries else { return try await body() }
        let notice = ReplyNotice()
        let question = Task { await notice.ask(broker) }
        let timer = Task { try await notice.report(broker) }
        defer {
            question.cancel()
            timer.cancel()
        }
        return try await body()
    }

    private func ask(_ broker: RedisBroker) async {
        try? await broker.ping()
        hasReplied.withLock { $0 = true }
    }

    private func report(_ broker: RedisBroker) async throws {
        try await Task.sleep(for: Self.patience)
        guard !hasReplied.withLock({ $0 }) else { return }
        StandardError.write("waiting for \(broker.address)")
    }
}
