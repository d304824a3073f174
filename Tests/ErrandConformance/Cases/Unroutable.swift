import Errand
import Synchronization
import Testing

extension ConformanceCase {
    static let unroutable = [
        ConformanceCase("an unroutable job waits for a session with its operation and spends nothing") { fixture in
            let ignorant = try await fixture.session()
            try await fixture.push(fixture.job("a", operation: "rare.thing"), fixture.job("b"))
            try await ignorant.report(.unroutable, try await ignorant.claimOne())
            #expect(try await fixture.status().unknownOperations == ["rare.thing": 1])
            #expect(try await fixture.status().ready == 2)
            #expect(try await fixture.state("a") == .ready)
            #expect(try await ignorant.claimedIDs() == ["b"])
            #expect(try await ignorant.claimedIDs() == [])

            let expert = try await fixture.session(operations: ["rare.thing": OperationDefaults()])
            let claims = try await expert.claim()
            #expect(claims.map(\.id) == ["a"])
            #expect(claims.map(\.attempt) == [1])
            #expect(try await fixture.status().unknownOperations == [:])
            #expect(try await fixture.news() == [])
            #expect(try await expert.report(.finished, try #require(claims.first)))
        },
        ConformanceCase("an unroutable job can be cancelled and replaced") { fixture in
            let ignorant = try await fixture.session()
            try await fixture.push(fixture.job("a", operation: "rare"), fixture.job("old", .drop, operation: "rare"))
            for claim in try await ignorant.claim() { try await ignorant.report(.unroutable, claim) }
            #expect(try await fixture.cancel("a") == .cancelled)
            #expect(try await fixture.receipt(fixture.job("new", .replace)).outcome == .replaced)
            #expect(try await fixture.status().unknownOperations == [:])
            #expect(try await ignorant.claimedIDs() == ["new"])
            #expect(try await fixture.news() == ["cancelled a", "replaced old"])
        },
        ConformanceCase("unroutable jobs are claimed by priority, before later jobs") { fixture in
            let ignorant = try await fixture.session()
            let unroutable = try [("low", 0), ("usual", 5), ("high", 9)].map {
                try fixture.job($0.0, operation: "rare", priority: $0.1)
            }
            _ = try await fixture.broker.push(unroutable, to: fixture.queue)
            for claim in try await ignorant.claim() { try await ignorant.report(.unroutable, claim) }
            #expect(try await fixture.status().unknownOperations == ["rare": 3])
            try await fixture.push(
                fixture.job("later", operation: "rare"),
                fixture.job("nine", operation: "rare", priority: 9),
                fixture.job("seven", operation: "rare", priority: 7)
            )
            let expert = try await fixture.session(operations: ["rare": OperationDefaults()])
            #expect(try await expert.claimedIDs(1) == ["high"])
            #expect(try await expert.claimedIDs(4) == ["nine", "seven", "usual", "later"])
            #expect(try await fixture.status().unknownOperations == ["rare": 1])
            #expect(try await expert.claimedIDs() == ["low"])
            #expect(try await fixture.status().unknownOperations == [:])
        },
        ConformanceCase("clearing cancels unroutable jobs by priority") { fixture in
            let ignorant = try await fixture.session()
            let unroutable = try [("two", 2), ("nine", 9), ("usual", 5), ("seven", 7)].map {
                try fixture.job($0.0, operation: "rare", priority: $0.1)
            }
            _ = try await fixture.broker.push(unroutable, to: fixture.queue)
            for claim in try await ignorant.claim().reversed() { try await ignorant.report(.unroutable, claim) }
            #expect(try await fixture.broker.clear(fixture.queue) == 4)
            #expect(
                try await fixture.news() == ["cancelled nine", "cancelled seven", "cancelled usual", "cancelled two"]
            )
            #expect(try await fixture.status().unknownOperations == [:])
        },
        ConformanceCase("many unroutable jobs of the lowest priority do not delay other jobs") { fixture in
            let ignorant = try await fixture.session()
            let unroutable = try (0..<40).map { try fixture.job("low\($0)", operation: "rare", priority: 0) }
            _ = try await fixture.broker.push(unroutable, to: fixture.queue)
            for claim in try await ignorant.claim(40) { try await ignorant.report(.unroutable, claim) }
            let high = try (0..<40).map { try fixture.job("high\($0)", operation: "rare", priority: 9) }
            _ = try await fixture.broker.push(high, to: fixture.queue)
            let expert = try await fixture.session(operations: ["rare": OperationDefaults()])
            let ids = try await expert.claimedIDs(32)
            #expect(ids.indices.filter { ids[$0].hasPrefix("low") } == [15, 31])
        },
        ConformanceCase("a session that reports a job as unroutable is not woken up for it") { fixture in
            let ignorant = try await fixture.session()
            let counter = WakeUpCounter(ignorant, fixture)
            try await fixture.eventually("wake-ups arrive", every: .milliseconds(50)) {
                while let claim = try await ignorant.claim(1).first { try await ignorant.report(.finished, claim) }
                try await fixture.push(fixture.job("probe-\(Fixture.milliseconds)"))
                return counter.times > 0
            }
            while let claim = try await ignorant.claim(1).first { try await ignorant.report(.finished, claim) }
            // Wake-ups arrive in order, and this one names its job, so all earlier ones have arrived, too.
            #expect(try await ignorant.exchange(wanted: 1, acceptsDispatch: true).claims.isEmpty)
            try await fixture.push(fixture.job("fence"))
            try await fixture.eventually("the fence is dispatched") { counter.claim(of: "fence") != nil }
            ignorant.skipCall()
            try await ignorant.report(.finished, try #require(counter.claim(of: "fence")))
            try await fixture.push(fixture.job("a", operation: "rare"), fixture.job("b", operation: "rare"))
            let claims = try await ignorant.claim()
            #expect(claims.map(\.id) == ["a", "b"])
            let before = counter.times
            let reports = claims.map { TestSession.outcome(.unroutable, $0) }
            #expect(try await ignorant.exchange(reports: reports, wanted: 1).claims.isEmpty)
            // The next wake-up proves that there was none before it.
            try await fixture.push(fixture.job("known"))
            try await fixture.eventually("the next wake-up") { counter.times > before }
            #expect(counter.times == before + 1)
            #expect(try await ignorant.claimedIDs() == ["known"])
        },
        ConformanceCase("a name with unescaped control characters leaves the operation readable") {
            fixture in
            let name = "delete \u{7F} and \u{80}"
            let ignorant = try await fixture.session()
            try await fixture.push(fixture.job("old", .replace, name: name, operation: "rare"))
            try await ignorant.report(.unroutable, try await ignorant.claimOne())
            try await fixture.push(fixture.job("new", .replace, name: name))
            #expect(try await ignorant.claimedIDs() == ["new"])
            let event = try #require(try await fixture.log.drain().last { $0.kind == "replaced" })
            #expect(event.operation == "rare" && event.name == name)
        },
    ]
}

/// A counter of a session's wake-ups.
private final class WakeUpCounter: Sendable {
    private let count = Mutex(0)
    private let claims = Mutex<[Claim]>([])
    private let subscription = Mutex<(any Subscription)?>(nil)

    init(_ session: TestSession, _ fixture: Fixture) {
        let subscription = fixture.broker.wakeUps(for: session.session, on: [fixture.queue]) { [weak self] wakeUp in
            switch wakeUp {
            case .work: self?.count.withLock { $0 += 1 }
            case .claimed(_, _, let claim): self?.claims.withLock { $0.append(claim) }
            case .stop: break
            }
        }
        self.subscription.withLock { $0 = subscription }
    }

    deinit { subscription.withLock { $0 }?.cancel() }

    var times: Int { count.withLock { $0 } }

    /// Returns the claim that a wake-up has brought for a job.
    func claim(of id: String) -> Claim? { claims.withLock { $0.first { $0.id == id } } }
}
