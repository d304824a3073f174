import Errand
import Testing

/// The state of a name's holder when another job with the name is pushed.
enum HolderState: String, CaseIterable {
    case none, ready, scheduled, retrying, running, stopping
    case succeeded = "running with a successor"
}

/// One cell of the uniqueness table: the effect of a push.
private struct Decision {
    let outcome: Receipt.Outcome
    var id = "new"
    var holder: String?
    var events: [String] = []
    /// The states of the jobs after the push.
    var states: [String: JobState] = [:]
}

extension ConformanceCase {
    static let uniqueness: [ConformanceCase] = UniquenessPolicy.allCases.flatMap { policy in
        HolderState.allCases.map { state in
            ConformanceCase("uniqueness: \(policy) meets a holder: \(state.rawValue)") { fixture in
                try await fixture.makeHolder(state)
                _ = try await fixture.news()
                let receipt = try await fixture.receipt(fixture.job("new", policy, name: "the name"))
                try await fixture.check(receipt, decision(policy, state))
            }
        }
    }

    private static func decision(_ policy: UniquenessPolicy, _ state: HolderState) -> Decision {
        switch policy {
        case .ignore: Decision(outcome: .accepted, states: ["new": .ready])
        case .drop: dropDecision(state)
        case .replace, .keepLatest: replaceDecision(state)
        case .throttle: Decision(outcome: .accepted, states: ["new": .ready])
        case .debounce: debounceDecision(state)
        }
    }

    /// As a replacement that is due later.
    private static func debounceDecision(_ state: HolderState) -> Decision {
        var decision = replaceDecision(state)
        if decision.states["new"] == .ready { decision.states["new"] = .scheduled }
        return decision
    }

    private static func dropDecision(_ state: HolderState) -> Decision {
        switch state {
        case .none: Decision(outcome: .accepted, states: ["new": .ready])
        case .ready, .scheduled, .retrying, .running:
            Decision(outcome: .dropped, id: "old", holder: "old", events: ["dropped new"])
        case .stopping:
            Decision(outcome: .deferred, holder: "old", states: ["old": .running, "new": .deferred])
        case .succeeded:
            Decision(
                outcome: .dropped,
                id: "next",
                holder: "next",
                events: ["dropped new"],
                states: ["next": .deferred]
            )
        }
    }

    private static func replaceDecision(_ state: HolderState) -> Decision {
        switch state {
        case .none: Decision(outcome: .accepted, states: ["new": .ready])
        case .ready, .scheduled, .retrying:
            Decision(
                outcome: .replaced,
                holder: "old",
                events: ["replaced old"],
                states: ["old": .replaced, "new": .ready]
            )
        case .running, .stopping:
            Decision(outcome: .deferred, holder: "old", states: ["old": .running, "new": .deferred])
        case .succeeded:
            Decision(
                outcome: .deferred,
                holder: "old",
                events: ["replaced next"],
                states: ["old": .running, "next": .replaced, "new": .deferred]
            )
        }
    }
}

extension Fixture {
    /// Makes a job `old` that holds the name and is in this state.
    func makeHolder(_ state: HolderState) async throws {
        switch state {
        case .none: break
        case .ready: try await push(job("old", .drop))
        case .scheduled: try await push(job("old", .drop, delay: 3_600_000))
        case .retrying:
            let (session, claim) = try await claimedHolder()
            try await session.report(.failed, claim, retryDelay: 3_600_000)
        case .running: _ = try await claimedHolder()
        case .stopping:
            _ = try await claimedHolder()
            #expect(try await cancel("old") == .stopping)
        case .succeeded:
            _ = try await claimedHolder()
            try await push(job("next", .replace))
        }
    }

    /// Makes a job `old` that holds the name and runs.
    func claimedHolder() async throws -> (TestSession, Claim) {
        let session = try await session()
        try await push(job("old", .drop))
        return (session, try await session.claimOne())
    }

    fileprivate func check(_ receipt: Receipt, _ decision: Decision) async throws {
        let expected = Receipt(
            id: decision.id,
            queue: queue,
            outcome: decision.outcome,
            holder: decision.holder,
            until: receipt.until
        )
        #expect(receipt == expected)
        #expect(try await news() == decision.events)
        for (id, state) in decision.states { #expect(try await self.state(id) == state, "state of \(id)") }
        if decision.outcome == .dropped { #expect(try await record("new") == nil) }
    }
}
