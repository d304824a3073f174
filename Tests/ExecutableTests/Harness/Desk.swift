import Errand
import ErrandRedis
import Foundation
import Logging
import TestSupport

/// A minimal worker for tests that need jobs in every state.
final class Desk: Sendable {
    let broker: RedisBroker
    let session: Session
    private let calls = Counter()

    init(_ server: RedisServer, queues: [String] = ["default"], operations: [String] = ["work"]) async throws {
        broker = RedisBroker(try RedisAddress(url: server.url), logger: Logger(label: "desk"))
        session = Session(
            id: "desk-\(UInt32.random(in: 0 ... .max))",
            host: "desk.example",
            pid: 4711,
            concurrency: 8,
            queues: queues,
            lease: .seconds(60),
            operations: Dictionary(operations.map { ($0, OperationDefaults()) }) { $1 }
        )
        for queue in queues { try await broker.register(session, on: queue) }
    }

    deinit { broker.close() }

    func claim(_ count: Int = 10, from queue: String = "default") async throws -> [Claim] {
        try await exchange([], wanted: count, queue).claims
    }

    func report(
        _ claim: Claim,
        _ verb: OutcomeReport.Verb,
        error: String? = nil,
        result: [UInt8] = [],
        retryDelay: Int? = nil,
        queue: String = "default"
    ) async throws {
        let job = try JobEnvelope.read(stored: claim.body)
        let report = OutcomeReport(
            id: claim.id,
            token: claim.token,
            verb: verb,
            attempt: claim.attempt,
            milliseconds: 12,
            fragment: job.fragment,
            error: error,
            result: result,
            retryDelay: retryDelay
        )
        let answer = try await exchange([report], wanted: 0, queue)
        guard answer.accepted == [true] else { throw TestFailure("the report did not count") }
    }

    /// Claims the next job and reports its end.
    func work(
        _ verb: OutcomeReport.Verb,
        error: String? = nil,
        result: String = "",
        retryDelay: Int? = nil,
        queue: String = "default"
    ) async throws {
        guard let claim = try await claim(1, from: queue).first else { throw TestFailure("no job to claim") }
        try await report(claim, verb, error: error, result: Array(result.utf8), retryDelay: retryDelay, queue: queue)
    }

    private func exchange(_ reports: [OutcomeReport], wanted: Int, _ queue: String) async throws -> ExchangeReply {
        try await broker.exchange(
            Exchange(
                session: session,
                call: calls.next(),
                reports: reports,
                wanted: wanted,
                freeSlots: wanted,
                begun: 0,
                longestWait: .seconds(5),
                stopGrace: .seconds(5)
            ),
            on: queue
        )
    }
}

/// Polls until a condition holds, for conditions without an event.
func until(_ what: String, _ isSo: () async throws -> Bool) async throws {
    let deadline = ContinuousClock.now + .seconds(60)
    while try await !isSo() {
        guard ContinuousClock.now < deadline else { throw TestFailure("waited in vain until \(what)") }
        try await Task.sleep(for: .milliseconds(5))
    }
}
