import Errand
import Testing

/// Names that are held until the first claim only.
extension ConformanceCase {
    static let uniqueUntilStarted: [ConformanceCase] = [
        ConformanceCase("a name that is held until the start blocks while the job waits") { stage in
            try await stage.push(stage.job("old", .drop, until: .started))
            #expect(try await stage.receipt(stage.job("new", .drop, until: .started)).outcome == .dropped)
            #expect(try await stage.receipt(stage.job("newest", .replace, until: .started)).outcome == .replaced)
            #expect(try await stage.state("old") == .replaced)
        },
        ConformanceCase("a name that is held until the start is free from the claim on") { stage in
            let (hand, claim) = try await stage.startedHolder()
            #expect(try await stage.receipt(stage.job("new", .drop, until: .started)).outcome == .accepted)
            #expect(try await stage.state("old") == .running)
            #expect(try await stage.receipt(stage.job("other", .drop)).outcome == .dropped)
            // The run that goes on does not take the name away from who has it now.
            try await hand.report(.finished, claim)
            #expect(try await stage.receipt(stage.job("another", .drop)).outcome == .dropped)
            let next = try await hand.claimOne()
            #expect(next.id == "new")
            #expect(try await stage.receipt(stage.job("last", .drop)).outcome == .accepted)
            #expect(try await stage.broker.audit(stage.queue, repair: false) == [])
        },
        ConformanceCase("a job that has started comes back into its line without its name") { stage in
            let (hand, claim) = try await stage.startedHolder()
            try await hand.report(.failed, claim, retryDelay: 3_600_000)
            #expect(try await stage.state("old") == .retrying)
            #expect(try await stage.receipt(stage.job("new", .replace)).outcome == .accepted)
            #expect(try await stage.state("old") == .retrying)
            #expect(try await stage.cancel("old") == .cancelled)
            #expect(try await stage.receipt(stage.job("newer", .drop)).outcome == .dropped)
            #expect(try await stage.broker.audit(stage.queue, repair: false) == [])
        },
        ConformanceCase("a replacement is not deferred by a run that let its name go") { stage in
            _ = try await stage.startedHolder()
            let receipt = try await stage.receipt(stage.job("new", .replace, until: .started))
            #expect(receipt.outcome == .accepted)
            #expect(try await stage.state("new") == .ready)
            #expect(try await stage.news().contains("replaced old") == false)
        },
        ConformanceCase("a successor may hold its name until its own start") { stage in
            let (hand, claim) = try await stage.claimedHolder()
            #expect(try await stage.receipt(stage.job("next", .replace, until: .started)).outcome == .deferred)
            try await hand.report(.finished, claim)
            #expect(try await stage.receipt(stage.job("dropped", .drop)).outcome == .dropped)
            #expect(try await hand.claimOne().id == "next")
            #expect(try await stage.receipt(stage.job("after", .drop)).outcome == .accepted)
            #expect(try await stage.broker.audit(stage.queue, repair: false) == [])
        },
        ConformanceCase("a revived job holds its name again until it starts, when that is free") { stage in
            let (hand, claim) = try await stage.startedHolder()
            try await hand.report(.failed, claim)
            #expect(try await stage.state("old") == .dead)
            try await stage.push(stage.job("new", .drop))
            #expect(try await stage.revive("old") == .nameTaken(holder: "new"))
            #expect(try await stage.cancel("new") == .cancelled)
            #expect(try await stage.revive("old") == .revived)
            #expect(try await stage.receipt(stage.job("late", .drop)).outcome == .dropped)
            _ = try await hand.claimOne()
            #expect(try await stage.receipt(stage.job("last", .drop)).outcome == .accepted)
        },
    ]
}

extension Stage {
    /// A job `old` that runs and has let its name go.
    fileprivate func startedHolder() async throws -> (Hand, Claim) {
        let hand = try await session()
        try await push(job("old", .drop, until: .started))
        return (hand, try await hand.claimOne())
    }
}
