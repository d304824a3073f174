import Errand
import Synchronization
import Testing

extension ConformanceCase {
    static let handing = [
        ConformanceCase("a push hands the only job to a session that waits for it and listens") { stage in
            let ear = try await Ear(stage)
            let id = try await ear.handedJob()
            let heard = try await ear.heard(id)
            #expect(heard.call == ear.hand.lastCall + 1)
            #expect(heard.claim.attempt == 1 && heard.claim.crashes == 0)
            #expect(try await stage.state(id) == .running)
            // Who has heard of it goes on as if that call had been made.
            ear.hand.skipCall()
            #expect(try await ear.hand.report(.finished, heard.claim))
            #expect(try await stage.status().running == 0)
        },
        ConformanceCase("a hint that is lost is made up for by the call, whose reports wait for the next one") {
            stage in
            let ear = try await Ear(stage)
            try await stage.pushPlain("before")
            let before = try await ear.hand.claimOne()
            let id = try await ear.handedJob()
            let reports = [Hand.outcome(.finished, before)]
            for call in [nil, ear.hand.lastCall + 1] {
                let answer = try await ear.hand.exchange(reports: reports, wanted: 1, call: call)
                #expect(answer.cameLate && answer.accepted.isEmpty)
                #expect(answer.claims.map(\.id) == [id])
                let heard = try await ear.heard(id)
                #expect(answer.claims.map(\.token) == [heard.claim.token])
            }
            #expect(try await ear.hand.exchange(reports: reports, wanted: 0).accepted == [true])
            #expect(try await stage.status().running == 1)
        },
        ConformanceCase("what was handed over and is not heard of yet is not given back by a comparison") { stage in
            let ear = try await Ear(stage)
            let id = try await ear.handedJob()
            await #expect(throws: BrokerError.self) { try await ear.hand.reconcile([]) }
            #expect(try await stage.state(id) == .running)
            ear.hand.skipCall()
            #expect(try await ear.hand.reconcile([]).givenBack == 1)
        },
        ConformanceCase("what was handed over goes back when its session leaves") { stage in
            let ear = try await Ear(stage)
            let id = try await ear.handedJob()
            try await ear.hand.release()
            #expect(try await stage.state(id) == .ready)
            #expect(try await stage.status().running == 0)
        },
        ConformanceCase("nobody is handed a job who has not asked for it, or beside others, or a large one") { stage in
            let ear = try await Ear(stage)
            let first = try await ear.heard(try await ear.handedJob()).claim
            ear.hand.skipCall()
            try await ear.hand.report(.finished, first)
            #expect(try await ear.hand.claim().isEmpty)
            try await stage.pushPlain("not-asked")
            try await ear.expectInLine(1)
            try await stage.pushPlain("two", "at-once")
            try await ear.expectInLine(2)
            let text = try JSONText(validating: "{\"text\":\"\(String(repeating: "x", count: 17_000))\"}".utf8)
            let large = try OperationDescription(Stage.operation, arguments: text, queue: stage.queue)
            try await stage.push(try large.settled())
            try await ear.expectInLine(1)
            try await stage.push(stage.job("unknown", operation: "rare"))
            try await ear.expectInLine(1)
            try await stage.broker.configure(stage.queue, QueueSettings(publishesStarts: true))
            try await stage.pushPlain("told")
            try await ear.expectInLine(1)
        },
    ]
}

/// A session that listens for hints and keeps them.
private final class Ear: Sendable {
    let hand: Hand
    private let stage: Stage
    private let handed = Mutex<[(call: Int, claim: Claim)]>([])
    private let subscription = Mutex<(any Subscription)?>(nil)

    init(_ stage: Stage) async throws {
        self.stage = stage
        hand = try await stage.session()
        let subscription = stage.broker.hints(for: hand.session, on: [stage.queue]) { [weak self] hint in
            guard case .claimed(_, let call, let claim) = hint else { return }
            self?.handed.withLock { $0.append((call, claim)) }
        }
        self.subscription.withLock { $0 = subscription }
    }

    deinit { subscription.withLock { $0 }?.cancel() }

    /// Pushes jobs one after the other until one is handed over: not before the subscription is there.
    func handedJob() async throws -> String {
        var number = 0
        let held = try await stage.status().running
        try await stage.eventually("a job is handed over", every: .milliseconds(50)) {
            for claim in try await self.hand.claim() where claim.id.hasPrefix("handed-") {
                try await self.hand.report(.finished, claim)
            }
            guard try await self.hand.exchange(wanted: 1, handed: true).claims.isEmpty else { return false }
            number += 1
            try await self.stage.pushPlain("handed-\(number)")
            return try await self.stage.status().running > held
        }
        return "handed-\(number)"
    }

    /// What a hint said of a job.
    func heard(_ id: String) async throws -> (call: Int, claim: Claim) {
        try await stage.eventually("a hint of \(id)") {
            self.handed.withLock { $0.contains { $0.claim.id == id } }
        }
        return try #require(handed.withLock { $0.last { $0.claim.id == id } })
    }

    /// Takes what is in line, which no hint has brought.
    func expectInLine(_ count: Int) async throws {
        #expect(try await stage.status().running == 0)
        let claims = try await hand.claim()
        #expect(claims.count == count)
        for claim in claims { try await hand.report(.finished, claim) }
        #expect(try await hand.exchange(wanted: 1, handed: true).claims.isEmpty)
    }
}
