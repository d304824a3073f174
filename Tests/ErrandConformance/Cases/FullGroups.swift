import Errand
import Testing

/// Groups with a largest number of waiting jobs.
extension ConformanceCase {
    static let fullGroups = [
        ConformanceCase("jobs of a full group are refused, and the other jobs of the push are accepted") { fixture in
            try await fixture.setFlow("a*", FlowRule(maxWaiting: 2))
            let jobs = try ["a", "a", "b", "a", "a2", "a"].enumerated().map { number, group in
                try fixture.job("j\(number)", group: group)
            }
            let error = try await fixture.refusal { _ = try await fixture.broker.push(jobs, to: fixture.queue) }
            #expect(error.code == .full && error.message.contains("group a of queue"), "\(error)")
            #expect(error.taken?.map { $0?.id } == ["j0", "j1", "j2", nil, "j4", nil])
            #expect(try await fixture.status().ready == 4)
            #expect(try await fixture.status().totals["pushed"] == 4)
            let again = try await fixture.broker.push([jobs[0], jobs[4]], to: fixture.queue)
            #expect(again.map(\.outcome) == [.exists, .exists], "they need no room")
            let results = await Producer(broker: fixture.broker).pushEach(jobs)
            #expect(results.map { (try? $0.get())?.outcome } == [.exists, .exists, .exists, nil, .exists, nil])
            #expect(try await Producer(broker: fixture.broker).push(envelopes: jobs)[3].outcome == .unknown)
        },
        ConformanceCase("a group has room again when a job is claimed, cancelled or cleared") { fixture in
            try await fixture.setFlow("a", FlowRule(maxWaiting: 2))
            try await fixture.setFlow("a/*", FlowRule(maxWaiting: 1))
            try await fixture.push(fixture.job("x", group: "a/x"), fixture.job("y", group: "a/y"))
            func isRefused(_ group: String) async throws -> Bool {
                let id = JobIDGenerator.next()
                let results = await Producer(broker: fixture.broker).pushEach([try fixture.job(id, group: group)])
                if case .failure(let error)? = results.first { return error.code == .full }
                _ = try await fixture.cancel(id)
                return false
            }
            for group in ["a", "a/x", "a/z"] { #expect(try await isRefused(group), "\(group)") }
            let session = try await fixture.session()
            let claim = try await session.claimOne()
            for group in ["a", "a/z"] { #expect(try await !isRefused(group), "\(group)") }
            try await session.report(.released, claim)
            #expect(try await isRefused("a/z"))
            #expect(try await fixture.cancel("y") == .cancelled)
            #expect(try await !isRefused("a/z"))
            #expect(try await isRefused("a/x"))
            while try await fixture.broker.clear(fixture.queue) > 0 {}
            #expect(try await !isRefused("a/x"))
            #expect(try await fixture.broker.audit(fixture.queue, repair: false) == [])
        },
        ConformanceCase("a full group takes jobs that replace, are not due yet, or return") { fixture in
            try await fixture.setFlow("a", FlowRule(maxWaiting: 1))
            try await fixture.push(fixture.job("one", .replace, name: "n", group: "a"))
            try await fixture.push(fixture.job("two", .replace, name: "n", group: "a"))
            try await fixture.push(fixture.job("late", delay: 500, group: "a"))
            let session = try await fixture.session()
            let claim = try await session.claimOne()
            #expect(claim.id == "two")
            try await fixture.eventually("the other one is due") {
                _ = try await fixture.broker.promote(on: fixture.queue)
                return try await fixture.group("a").waiting == 1
            }
            try await session.report(.released, claim)
            #expect(try await fixture.group("a").waiting == 2)
            let dropped = try await fixture.broker.push(
                [try fixture.job("three", .drop, name: "n", group: "a")],
                to: fixture.queue
            )
            #expect(dropped.map(\.outcome) == [.dropped])
        },
        ConformanceCase("a largest number of waiting jobs that cannot be is refused") { fixture in
            for (pattern, most) in [("a", 0), ("a", 10_000_001), ("", 5)] {
                await #expect(throws: BrokerError.self, "\(most)") {
                    try await fixture.setFlow(pattern, FlowRule(maxWaiting: most))
                }
            }
            try await fixture.setFlow("a", FlowRule(maxWaiting: 10_000_000))
            #expect(try await fixture.broker.flow(of: fixture.queue).map(\.rule) == [FlowRule(maxWaiting: 10_000_000)])
        },
    ]
}

extension Fixture {
    /// The error of a call, which must fail.
    fileprivate func refusal(_ call: () async throws -> Void) async throws -> BrokerError {
        do { try await call() } catch let error as BrokerError { return error }
        Issue.record("nothing was refused")
        return BrokerError(.closed, "nothing was refused")
    }
}
