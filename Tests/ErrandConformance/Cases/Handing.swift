import Errand
import Synchronization
import Testing

extension ConformanceCase {
    static let handing = [
        ConformanceCase("a push dispatches the only job directly to a session that waits for it and listens") {
            fixture in
            let ear = try await Ear(fixture)
            let id = try await ear.handedJob()
            let heard = try await ear.heard(id)
            #expect(heard.call == ear.session.lastCall + 1)
            #expect(heard.claim.attempt == 1 && heard.claim.crashes == 0)
            #expect(try await fixture.state(id) == .running)
            // The session continues as if it had made the pre-answered call.
            ear.session.skipCall()
            #expect(try await ear.session.report(.finished, heard.claim))
            #expect(try await fixture.status().running == 0)
        },
        ConformanceCase("a hint that is lost is made up for by the call, whose reports wait for the next one") {
            fixture in
            let ear = try await Ear(fixture)
            try await fixture.pushPlain("before")
            let before = try await ear.session.claimOne()
            let id = try await ear.handedJob()
            let reports = [TestSession.outcome(.finished, before)]
            for call in [nil, ear.session.lastCall + 1] {
                let answer = try await ear.session.exchange(reports: reports, wanted: 1, call: call)
                #expect(answer.isPreanswered && answer.accepted.isEmpty)
                #expect(answer.claims.map(\.id) == [id])
                let heard = try await ear.heard(id)
                #expect(answer.claims.map(\.token) == [heard.claim.token])
            }
            #expect(try await ear.session.exchange(reports: reports, wanted: 0).accepted == [true])
            #expect(try await fixture.status().running == 1)
        },
        ConformanceCase("what was handed over and is not heard of yet is not given back by a comparison") { fixture in
            let ear = try await Ear(fixture)
            let id = try await ear.handedJob()
            await #expect(throws: BrokerError.self) { try await ear.session.reconcile([]) }
            #expect(try await fixture.state(id) == .running)
            ear.session.skipCall()
            #expect(try await ear.session.reconcile([]).released == 1)
        },
        ConformanceCase("what was handed over goes back when its session leaves") { fixture in
            let ear = try await Ear(fixture)
            let id = try await ear.handedJob()
            try await ear.session.release()
            #expect(try await fixture.state(id) == .ready)
            #expect(try await fixture.status().running == 0)
        },
        ConformanceCase("a session that did not ask gets no job directly, nor one beside others, nor a large one") {
            fixture in
            let ear = try await Ear(fixture)
            let first = try await ear.heard(try await ear.handedJob()).claim
            ear.session.skipCall()
            try await ear.session.report(.finished, first)
            #expect(try await ear.session.claim().isEmpty)
            try await fixture.pushPlain("not-asked")
            try await ear.expectInLine(1)
            try await fixture.pushPlain("two", "at-once")
            try await ear.expectInLine(2)
            let text = try JSONText(validating: "{\"text\":\"\(String(repeating: "x", count: 17_000))\"}".utf8)
            let large = try OperationDescription(Fixture.operation, arguments: text, queue: fixture.queue)
            try await fixture.push(try large.makeEnvelope())
            try await ear.expectInLine(1)
            try await fixture.push(fixture.job("unknown", operation: "rare"))
            try await ear.expectInLine(1)
            try await fixture.broker.configure(fixture.queue, QueueSettings(publishesStarts: true))
            try await fixture.pushPlain("told")
            try await ear.expectInLine(1)
        },
    ]
}

/// A session that listens for wake-ups and records them.
private final class Ear: Sendable {
    let session: TestSession
    private let fixture: Fixture
    private let handed = Mutex<[(call: Int, claim: Claim)]>([])
    private let subscription = Mutex<(any Subscription)?>(nil)

    init(_ fixture: Fixture) async throws {
        self.fixture = fixture
        session = try await fixture.session()
        let subscription = fixture.broker.wakeUps(for: session.session, on: [fixture.queue]) { [weak self] hint in
            guard case .claimed(_, let call, let claim) = hint else { return }
            self?.handed.withLock { $0.append((call, claim)) }
        }
        self.subscription.withLock { $0 = subscription }
    }

    deinit { subscription.withLock { $0 }?.cancel() }

    /// Pushes jobs one after the other until one is dispatched directly, which requires the subscription to be
    /// established.
    func handedJob() async throws -> String {
        var number = 0
        let held = try await fixture.status().running
        try await fixture.eventually("a job is handed over", every: .milliseconds(50)) {
            for claim in try await self.session.claim() where claim.id.hasPrefix("handed-") {
                try await self.session.report(.finished, claim)
            }
            guard try await self.session.exchange(wanted: 1, handed: true).claims.isEmpty else { return false }
            number += 1
            try await self.fixture.pushPlain("handed-\(number)")
            return try await self.fixture.status().running > held
        }
        return "handed-\(number)"
    }

    /// Returns the claim that a wake-up has brought for a job.
    func heard(_ id: String) async throws -> (call: Int, claim: Claim) {
        try await fixture.eventually("a hint of \(id)") {
            self.handed.withLock { $0.contains { $0.claim.id == id } }
        }
        return try #require(handed.withLock { $0.last { $0.claim.id == id } })
    }

    /// Claims the ready jobs, which were not dispatched directly.
    func expectInLine(_ count: Int) async throws {
        #expect(try await fixture.status().running == 0)
        let claims = try await session.claim()
        #expect(claims.count == count)
        for claim in claims { try await session.report(.finished, claim) }
        #expect(try await session.exchange(wanted: 1, handed: true).claims.isEmpty)
    }
}
