import Errand
import Foundation
import Synchronization
import Testing

/// A session that a case drives; it numbers its calls.
final class TestSession: Sendable {
    let fixture: Fixture
    let session: Session
    private let calls = Mutex(0)
    private let begun = Mutex<Token>(0)

    init(_ fixture: Fixture, _ session: Session) {
        self.fixture = fixture
        self.session = session
    }

    var id: String { session.id }

    /// Makes one call. `free` is the number of free slots, by default as many as jobs are wanted; with 0, claimed jobs wait in
    /// the worker and have not started.
    func exchange(
        reports: [OutcomeReport] = [],
        wanted: Int = 0,
        free: Int? = nil,
        call: Int? = nil,
        wait: Duration = .seconds(60),
        acceptsDispatch: Bool = false
    ) async throws -> ExchangeReply {
        let number = calls.withLock { last in
            last += call == nil ? 1 : 0
            return call ?? last
        }
        let freeSlots = free ?? max(wanted, 1)
        let answer = try await fixture.broker.exchange(
            Exchange(
                session: session,
                call: number,
                reports: reports,
                wanted: wanted,
                freeSlots: freeSlots,
                begun: begun.withLock { $0 },
                longestWait: wait,
                stopGrace: .zero,
                acceptsDirectDispatch: acceptsDispatch
            ),
            on: fixture.queue
        )
        if freeSlots > 0, let token = answer.claims.first?.token { begun.withLock { $0 = max($0, token) } }
        return answer
    }

    /// Skips the next call, which a wake-up has pre-answered.
    func skipCall() { calls.withLock { $0 += 1 } }

    /// Notes that a job which was dispatched directly has begun, which the next call or heartbeat says.
    func begin(_ claim: Claim) { begun.withLock { $0 = max($0, claim.token) } }

    /// The number of the last call.
    var lastCall: Int { calls.withLock { $0 } }

    func claim(_ wanted: Int = 100, free: Int? = nil, wait: Duration = .seconds(60)) async throws -> [Claim] {
        try await exchange(wanted: wanted, free: free, wait: wait).claims
    }

    /// Claims one job, which must be ready.
    func claimOne(free: Int? = nil, wait: Duration = .seconds(60)) async throws -> Claim {
        try #require(try await claim(1, free: free, wait: wait).first)
    }

    /// Claims jobs and returns their ids.
    func claimedIDs(_ wanted: Int = 100) async throws -> [String] { try await claim(wanted).map(\.id) }

    /// Reports one run and returns whether the broker accepted the report.
    @discardableResult
    func report(
        _ verb: OutcomeReport.Verb,
        _ claim: Claim,
        error: String? = nil,
        result: String = "",
        retryDelay: Int? = nil
    ) async throws -> Bool {
        let report = Self.outcome(verb, claim, error: error, result: result, retryDelay: retryDelay)
        let accepted = try await exchange(reports: [report]).accepted
        return try #require(accepted.first as Bool?)
    }

    static func outcome(
        _ verb: OutcomeReport.Verb,
        _ claim: Claim,
        error: String? = nil,
        result: String = "",
        retryDelay: Int? = nil
    ) -> OutcomeReport {
        OutcomeReport(
            id: claim.id,
            token: claim.token,
            verb: verb,
            attempt: claim.attempt,
            milliseconds: 7,
            fragment: (try? JobEnvelope.read(stored: claim.body).fragment) ?? [],
            error: error,
            result: Array(result.utf8),
            retryDelay: retryDelay
        )
    }

    /// Claims jobs one after the other, each of which finishes after the run time of its group (ms). Returns how many
    /// there were of each group.
    func finish(_ count: Int, after milliseconds: [String: Int]) async throws -> [String: Int] {
        var counts: [String: Int] = [:]
        for _ in 0..<count {
            let claim = try await claimOne()
            let group = fixture.group(of: claim)
            counts[group, default: 0] += 1
            var report = Self.outcome(.finished, claim)
            report.milliseconds = milliseconds[group] ?? 0
            _ = try await exchange(reports: [report])
        }
        return counts
    }

    /// Compares the worker's runs with the broker's claims.
    @discardableResult
    func reconcile(_ known: [Claim], call: Int? = nil) async throws -> Reconciliation {
        try await fixture.broker.reconcile(
            session,
            call: call ?? lastCall,
            runs: known.map { (id: $0.id, token: $0.token) },
            on: fixture.queue
        )
    }

    /// Returns the reply to the first beat of a heartbeat.
    func beat() async throws -> Beat {
        let (beats, continuation) = AsyncStream<Result<Beat, BrokerError>>.makeStream()
        let begun = begun.withLock { $0 }
        let heartbeat = fixture.broker.startHeartbeat(
            of: session,
            on: [fixture.queue],
            every: .seconds(3600),
            begun: { _ in begun },
            onBeat: { _, beat in continuation.yield(beat) }
        )
        defer { heartbeat.stop() }
        for await beat in beats { return try beat.get() }
        throw CancellationError()
    }

    func release() async throws { try await fixture.broker.release(session, on: fixture.queue) }
}

extension Fixture {
    /// Registers a session, by default with a lease that is long enough for any test.
    func session(
        lease: Duration = .seconds(60),
        operations: [String: OperationDefaults] = [Fixture.operation: OperationDefaults(retries: 0)],
        pid: Int32 = 1
    ) async throws -> TestSession {
        let session = Session(
            id: "s-" + UUID().uuidString.lowercased(),
            host: "host",
            pid: pid,
            concurrency: 3,
            queues: [queue],
            lease: lease,
            operations: operations
        )
        try await broker.register(session, on: queue)
        return TestSession(self, session)
    }

    /// Registers a session whose lease ends soon, because it has no heartbeat.
    func doomed() async throws -> TestSession { try await session(lease: .milliseconds(100)) }
}
