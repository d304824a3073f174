import Backgroundable
import Foundation
import Logging
import Synchronization
import TestSupport
import Testing

@testable import Errand

/// A claim that has waited too long for a slot begins no run, also where nobody was there to give it back in time.
@Suite("Claims that have waited too long", .timeLimit(.minutes(6)))
struct LateStartTests {
    /// How often a handler was called.
    private final class Calls: Sendable {
        let count = Atomic(0)
    }

    private static let logger = Logger(label: "late start") { _ in SwiftLogNoOpLogHandler() }
    private let calls = Calls()
    private let background = BackgroundQueue()
    private let poller: QueuePoller

    init() {
        let configuration = WorkerConfiguration(queues: [.init("late")], lease: .milliseconds(500))
        let session = Session(
            id: "session-1",
            host: "h",
            pid: 1,
            concurrency: 1,
            queues: ["late"],
            lease: configuration.lease,
            operations: [:]
        )
        let workerSession = WorkerSession(
            session: session,
            broker: MemoryBroker(),
            configuration: configuration,
            operations: [:],
            middleware: MiddlewareChain([any JobMiddleware]()),
            background: background,
            shutdown: Shutdown(grace: .seconds(1), stopGrace: .seconds(1)),
            overruns: Overruns(limit: 16),
            logger: Self.logger,
            onStuck: { _ in }
        )
        poller = QueuePoller("late", index: 0, workerSession: workerSession)
    }

    /// What is reported of a job's run that gets its slot now.
    private func report(claimedAt: ContinuousClock.Instant) async throws -> OutcomeReport {
        let envelope = try OperationDescription("noop", id: "late-job").makeEnvelope()
        let body = Array("1700000000000".utf8) + envelope.bytes
        let operation = RegisteredOperation(
            "noop",
            handler: .blocking { [calls] _ in
                calls.count.add(1, ordering: .relaxed)
                return .finished()
            }
        )
        let run = JobRun(
            Claim(id: envelope.id, token: 7, attempt: 1, crashes: 0, body: body),
            try JobEnvelope.read(stored: body),
            operation,
            poller: poller,
            claimedAt: claimedAt,
            stopGrace: .seconds(1),
            middleware: MiddlewareChain([any JobMiddleware]()),
            logger: Self.logger
        )
        background.addOperations([run.makeOperation()])
        try await eventually("it is reported") { poller.held.withLock { !$0.reports.isEmpty } }
        return try #require(poller.held.withLock { $0.reports.first })
    }

    @Test("one whose time is over when it gets its slot goes back, with nothing spent")
    func goesBack() async throws {
        let report = try await report(claimedAt: ContinuousClock.now - poller.patience - .milliseconds(1))
        #expect(report.verb == .released)
        #expect(report.token == 7 && report.attempt == 1)
        #expect(calls.count.load(ordering: .relaxed) == 0)
    }

    @Test("one that gets its slot in time is run")
    func isRun() async throws {
        #expect(try await report(claimedAt: .now).verb == .finished)
        #expect(calls.count.load(ordering: .relaxed) == 1)
    }
}
