import Errand
import Synchronization
import Testing

extension ConformanceCase {
    static let directDispatch = [
        ConformanceCase("a push dispatches the only job directly to a session that waits for it and listens") {
            fixture in
            let recorder = try await WakeUpRecorder(fixture)
            let id = try await recorder.dispatchedJob()
            let received = try await recorder.claim(of: id)
            #expect(received.call == recorder.session.lastCall + 1)
            #expect(received.claim.attempt == 1 && received.claim.crashes == 0)
            #expect(try await fixture.state(id) == .running)
            // The session continues as if it had made the pre-answered call.
            recorder.session.skipCall()
            #expect(try await recorder.session.report(.finished, received.claim))
            #expect(try await fixture.status().running == 0)
        },
        ConformanceCase("after a lost wake-up the call brings the job, and its reports wait for the next call") {
            fixture in
            let recorder = try await WakeUpRecorder(fixture)
            try await fixture.pushPlain("before")
            let before = try await recorder.session.claimOne()
            let id = try await recorder.dispatchedJob()
            let reports = [TestSession.outcome(.finished, before)]
            for call in [nil, recorder.session.lastCall + 1] {
                let answer = try await recorder.session.exchange(reports: reports, wanted: 1, call: call)
                #expect(answer.isPreanswered && answer.accepted.isEmpty)
                #expect(answer.claims.map(\.id) == [id])
                let received = try await recorder.claim(of: id)
                #expect(answer.claims.map(\.token) == [received.claim.token])
            }
            #expect(try await recorder.session.exchange(reports: reports, wanted: 0).accepted == [true])
            #expect(try await fixture.status().running == 1)
        },
        ConformanceCase("a reconciliation does not release a dispatched job that has not arrived yet") { fixture in
            let recorder = try await WakeUpRecorder(fixture)
            let id = try await recorder.dispatchedJob()
            await #expect(throws: BrokerError.self) { try await recorder.session.reconcile([]) }
            #expect(try await fixture.state(id) == .running)
            recorder.session.skipCall()
            #expect(try await recorder.session.reconcile([]).released == 1)
        },
        ConformanceCase("a dispatched job is released when its session ends") { fixture in
            let recorder = try await WakeUpRecorder(fixture)
            let id = try await recorder.dispatchedJob()
            try await recorder.session.release()
            #expect(try await fixture.state(id) == .ready)
            #expect(try await fixture.status().running == 0)
        },
        ConformanceCase("a dispatched job that has begun times out if its end is not reported") { fixture in
            let recorder = try await WakeUpRecorder(
                fixture,
                operations: [Fixture.operation: OperationDefaults(timeout: .milliseconds(1), retries: 0)],
                wait: .zero
            )
            let id = try await recorder.dispatchedJob()
            recorder.session.begin(try await recorder.claim(of: id).claim)
            _ = try await recorder.session.beat()
            try await fixture.recover(1)
            #expect(try await fixture.state(id) == .dead)
        },
        ConformanceCase("direct dispatch needs a session that accepts it, and a small job that is the only one") {
            fixture in
            let recorder = try await WakeUpRecorder(fixture)
            let first = try await recorder.claim(of: try await recorder.dispatchedJob()).claim
            recorder.session.skipCall()
            try await recorder.session.report(.finished, first)
            #expect(try await recorder.session.claim().isEmpty)
            try await fixture.pushPlain("not-asked")
            try await recorder.expectReady(1)
            try await fixture.pushPlain("two", "at-once")
            try await recorder.expectReady(2)
            let text = try JSONText(validating: "{\"text\":\"\(String(repeating: "x", count: 17_000))\"}".utf8)
            let large = try OperationDescription(Fixture.operation, arguments: text, queue: fixture.queue)
            try await fixture.push(try large.makeEnvelope())
            try await recorder.expectReady(1)
            try await fixture.push(fixture.job("expiring", expiresIn: .seconds(3600)))
            try await recorder.expectReady(1)
            try await fixture.push(fixture.job("unknown", operation: "rare"))
            try await recorder.expectReady(1)
            try await fixture.broker.configure(fixture.queue, QueueSettings(publishesStarts: true))
            try await fixture.pushPlain("with-starts")
            try await recorder.expectReady(1)
        },
    ]
}

/// A session that listens for wake-ups and records them.
private final class WakeUpRecorder: Sendable {
    let session: TestSession
    private let fixture: Fixture
    private let dispatched = Mutex<[(call: Int, claim: Claim)]>([])
    private let subscription = Mutex<(any Subscription)?>(nil)
    private let wait: Duration

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
        var number = 0
        let held = try await fixture.status().running
        try await fixture.eventually("a job is dispatched", every: .milliseconds(50)) {
            for claim in try await self.session.claim() where claim.id.hasPrefix("dispatched-") {
                try await self.session.report(.finished, claim)
            }
            guard try await self.session.exchange(wanted: 1, wait: self.wait, acceptsDispatch: true).claims.isEmpty
            else { return false }
            number += 1
            try await self.fixture.pushPlain("dispatched-\(number)")
            return try await self.fixture.status().running > held
        }
        return "dispatched-\(number)"
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
