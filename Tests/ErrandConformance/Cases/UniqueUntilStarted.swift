import Errand
import Testing

/// Cases of names that are held only until the first claim.
extension ConformanceCase {
    static let uniqueUntilStarted: [ConformanceCase] = [
        ConformanceCase("a name that is held until the start blocks while its job waits") { fixture in
            try await fixture.push(fixture.job("old", .drop, until: .started))
            #expect(try await fixture.receipt(fixture.job("new", .drop, until: .started)).outcome == .dropped)
            #expect(try await fixture.receipt(fixture.job("newest", .replace, until: .started)).outcome == .replaced)
            #expect(try await fixture.state("old") == .replaced)
        },
        ConformanceCase("a name that is held until the start is free after the claim") { fixture in
            let (session, claim) = try await fixture.startedHolder()
            #expect(try await fixture.receipt(fixture.job("new", .drop, until: .started)).outcome == .accepted)
            #expect(try await fixture.state("old") == .running)
            #expect(try await fixture.receipt(fixture.job("other", .drop)).outcome == .dropped)
            // The end of the run does not take the name from its new holder.
            try await session.report(.finished, claim)
            #expect(try await fixture.receipt(fixture.job("another", .drop)).outcome == .dropped)
            let next = try await session.claimOne()
            #expect(next.id == "new")
            #expect(try await fixture.receipt(fixture.job("last", .drop)).outcome == .accepted)
            #expect(try await fixture.broker.audit(fixture.queue, repair: false) == [])
        },
        ConformanceCase("a started job that is released does not hold its name again") { fixture in
            let (session, claim) = try await fixture.startedHolder()
            try await session.report(.failed, claim, retryDelay: 3_600_000)
            #expect(try await fixture.state("old") == .retrying)
            #expect(try await fixture.receipt(fixture.job("new", .replace)).outcome == .accepted)
            #expect(try await fixture.state("old") == .retrying)
            #expect(try await fixture.cancel("old") == .cancelled)
            #expect(try await fixture.receipt(fixture.job("newer", .drop)).outcome == .dropped)
            #expect(try await fixture.broker.audit(fixture.queue, repair: false) == [])
        },
        ConformanceCase("a run that has freed its name does not defer a replacement") { fixture in
            _ = try await fixture.startedHolder()
            let receipt = try await fixture.receipt(fixture.job("new", .replace, until: .started))
            #expect(receipt.outcome == .accepted)
            #expect(try await fixture.state("new") == .ready)
            #expect(try await fixture.news().contains("replaced old") == false)
        },
        ConformanceCase("a successor may hold its name until its own start") { fixture in
            let (session, claim) = try await fixture.claimedHolder()
            #expect(try await fixture.receipt(fixture.job("next", .replace, until: .started)).outcome == .deferred)
            try await session.report(.finished, claim)
            #expect(try await fixture.receipt(fixture.job("dropped", .drop)).outcome == .dropped)
            #expect(try await session.claimOne().id == "next")
            #expect(try await fixture.receipt(fixture.job("after", .drop)).outcome == .accepted)
            #expect(try await fixture.broker.audit(fixture.queue, repair: false) == [])
        },
        ConformanceCase("a retried job holds its name again until it starts, if the name is free") { fixture in
            let (session, claim) = try await fixture.startedHolder()
            try await session.report(.failed, claim)
            #expect(try await fixture.state("old") == .dead)
            try await fixture.push(fixture.job("new", .drop))
            #expect(try await fixture.retry("old") == .nameTaken(holder: "new"))
            #expect(try await fixture.cancel("new") == .cancelled)
            #expect(try await fixture.retry("old") == .retried)
            #expect(try await fixture.receipt(fixture.job("late", .drop)).outcome == .dropped)
            _ = try await session.claimOne()
            #expect(try await fixture.receipt(fixture.job("last", .drop)).outcome == .accepted)
        },
    ]
}

extension Fixture {
    /// Makes a job `old` that runs and has released its name.
    fileprivate func startedHolder() async throws -> (TestSession, Claim) {
        let session = try await session()
        try await push(job("old", .drop, until: .started))
        return (session, try await session.claimOne())
    }
}
