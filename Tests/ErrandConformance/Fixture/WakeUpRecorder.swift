import Errand
import Synchronization
import Testing

/// A session that listens for wake-ups and records them.
final class WakeUpRecorder: Sendable {
    let session: TestSession
    private let fixture: Fixture
    private let dispatched = Mutex<[(call: Int, claim: Claim)]>([])
    private let subscription = Mutex<(any Subscription)?>(nil)
    private let wait: Duration
    private let pushed = Mutex(0)

    init(
        _ fixture: Fixture,
        operations: [String: OperationDefaults] = [Fixture.operation: OperationDefaults(retries: 0)],
        wait: Duration = .seconds(60)
    ) async throws {
        self.fixture = fixture
        self.wait = wait
        session = try await fixture.session(operations: operations)
        let subscription = fixture.broker.wakeUps(for: session.session, on: [fixture.queue]) { [weak self] wakeUp in
            guard case .claimed(_, let call, let claim) = wakeUp else { return }
            self?.dispatched.withLock { $0.append((call, claim)) }
        }
        self.subscription.withLock { $0 = subscription }
    }

    deinit { subscription.withLock { $0 }?.cancel() }

    /// Pushes jobs one after the other until one is dispatched directly, which requires the subscription to be
    /// established.
    func dispatchedJob() async throws -> String {
        var id = ""
        let held = try await fixture.status().running
        try await fixture.eventually("a job is dispatched", every: .milliseconds(50)) {
            for claim in try await self.session.claim() where claim.id.hasPrefix("dispatched-") {
                try await self.session.report(.finished, claim)
            }
            guard try await self.session.exchange(wanted: 1, wait: self.wait, acceptsDispatch: true).claims.isEmpty
            else { return false }
            id = self.pushed.withLock { number in
                number += 1
                return "dispatched-\(number)"
            }
            try await self.fixture.pushPlain(id)
            return try await self.fixture.status().running > held
        }
        return id
    }

    /// Lets a job be dispatched, which shows that the session listens, and finishes it.
    func finishDispatchedJob() async throws {
        let claim = try await claim(of: try await dispatchedJob()).claim
        session.skipCall()
        try await session.report(.finished, claim)
    }

    /// Returns the claim that a wake-up has brought for a job.
    func claim(of id: String) async throws -> (call: Int, claim: Claim) {
        try await fixture.eventually("a wake-up with \(id)") {
            self.dispatched.withLock { $0.contains { $0.claim.id == id } }
        }
        return try #require(dispatched.withLock { $0.last { $0.claim.id == id } })
    }

    /// Claims the ready jobs, which were not dispatched directly.
    func expectReady(_ count: Int) async throws {
        #expect(try await fixture.status().running == 0)
        let claims = try await session.claim()
        #expect(claims.count == count)
        for claim in claims { try await session.report(.finished, claim) }
        #expect(try await session.exchange(wanted: 1, acceptsDispatch: true).claims.isEmpty)
    }
}
