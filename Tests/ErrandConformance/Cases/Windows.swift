import Errand
import Testing

/// The policies throttle, debounce and keep latest, beyond the table of decisions.
extension ConformanceCase {
    private static let hour = Duration.seconds(3600)

    static let windows: [ConformanceCase] = [
        ConformanceCase("a throttle's window outlives its job and drops later ones until it is over") { fixture in
            let before = try await fixture.broker.now(on: fixture.queue)
            let first = try await fixture.receipt(fixture.job("a", .throttle, window: hour))
            let end = try #require(first.until)
            #expect(first.outcome == .accepted)
            let after = try await fixture.broker.now(on: fixture.queue)
            #expect((before...after).contains(end - 3_600_000))
            #expect(try await fixture.cancel("a") == .cancelled)
            // The window is that of the job that began it.
            let second = try await fixture.receipt(fixture.job("b", .throttle, window: .seconds(1)))
            #expect(
                second
                    == Receipt(id: "a", queue: fixture.queue, outcome: .dropped, holder: "a", until: end)
            )
            #expect(try await fixture.record("b") == nil)
            #expect(try await fixture.news() == ["cancelled a", "dropped b"])
            let other = try await fixture.receipt(fixture.job("c", .throttle, name: "other", window: hour))
            #expect(other.outcome == .accepted)
            #expect(try await fixture.total("dropped") == 1)
        },
        ConformanceCase("a throttle accepts the next job when its window is over") { fixture in
            try await fixture.push(fixture.job("a", .throttle, window: .milliseconds(150)))
            var number = 0
            try await fixture.eventually("the window is over") {
                number += 1
                let receipt = try await fixture.receipt(fixture.job("b\(number)", .throttle, window: hour))
                return receipt.outcome == .accepted
            }
            let last = try await fixture.receipt(fixture.job("c", .throttle, window: hour))
            #expect(last.holder == "b\(number)")
        },
        ConformanceCase("a throttle ignores windows that are over and not yet removed") { fixture in
            // A push removes a few of them, the earliest first.
            let jobs = try (10..<60).map { n in
                try fixture.job("a\(n)", .throttle, name: "name \(n)", window: .milliseconds(1))
            }
            let end = try #require(try await fixture.broker.push(jobs, to: fixture.queue).last?.until)
            try await fixture.eventually("the windows are over") {
                try await fixture.broker.now(on: fixture.queue) > end
            }
            let last = try await fixture.receipt(fixture.job("b", .throttle, name: "name 59", window: hour))
            #expect(last.outcome == .accepted)
        },
        ConformanceCase("a throttle neither takes a name nor meets a holder") { fixture in
            try await fixture.push(fixture.job("a", .throttle, window: hour))
            #expect(try await fixture.receipt(fixture.job("b", .drop)).outcome == .accepted)
            #expect(try await fixture.receipt(fixture.job("a", .throttle, window: hour)).outcome == .exists)
        },
        ConformanceCase("a debounced job is due a window after the last push") { fixture in
            let first = try await fixture.receipt(fixture.job("a", .debounce, window: .seconds(60)))
            let second = try await fixture.receipt(fixture.job("b", .debounce, window: hour))
            #expect(second.outcome == .replaced && second.holder == "a")
            #expect(try #require(second.until) > #require(first.until))
            #expect(try await fixture.record("b")?.at == second.until)
            #expect(try await fixture.state("a") == .replaced)
        },
        ConformanceCase("a series of debounced jobs is due at the latest when its first one must run") { fixture in
            let first = try await fixture.receipt(fixture.job("a", .debounce, window: hour, atMost: .seconds(1800)))
            let second = try await fixture.receipt(fixture.job("b", .debounce, window: hour, atMost: .seconds(1800)))
            // It also holds for a job that has no limit of its own.
            let third = try await fixture.receipt(fixture.job("c", .debounce, window: hour))
            #expect(second.until == first.until && third.until == first.until)
            #expect(try await fixture.state("c") == .scheduled)
        },
        ConformanceCase("a debounced job whose longest wait is over takes the position of the one that it replaces") {
            fixture in
            let limit = Duration.milliseconds(1)
            try await fixture.push(fixture.job("a", .debounce, window: hour, atMost: limit))
            try await fixture.eventually("a is ready") {
                _ = try await fixture.broker.promote(on: fixture.queue)
                return try await fixture.state("a") == .ready
            }
            try await fixture.pushPlain("z")
            let receipt = try await fixture.receipt(fixture.job("b", .debounce, window: hour, atMost: limit))
            #expect(receipt.outcome == .replaced)
            let session = try await fixture.session()
            #expect(try await session.claim(2).map(\.id) == ["b", "z"])
            // It started, so the next job begins a series of its own.
            let next = try await fixture.receipt(fixture.job("c", .debounce, window: hour, atMost: hour))
            #expect(next.outcome == .accepted)
            #expect(try #require(next.until) > #require(receipt.until) + 3_000_000)
        },
        ConformanceCase("keep latest: one runs and is not stopped, one waits, a newer one replaces that") { fixture in
            let session = try await fixture.session()
            try await fixture.push(fixture.job("a", .keepLatest))
            let claim = try await session.claimOne()
            #expect(try await fixture.receipt(fixture.job("b", .keepLatest)).outcome == .deferred)
            #expect(try await fixture.receipt(fixture.job("c", .keepLatest)).outcome == .deferred)
            #expect(try await session.beat().stops.isEmpty)
            #expect(try await fixture.state("b") == .replaced)
            let counted = try await session.report(.finished, claim)
            #expect(counted)
            #expect(try await session.claimOne().id == "c")
            #expect(try await fixture.news() == ["replaced b", "finished a"])
        },
        ConformanceCase("a replacement stops a run for which a job with keep latest waits") { fixture in
            let session = try await fixture.session()
            try await fixture.push(fixture.job("a", .keepLatest))
            let claim = try await session.claimOne()
            try await fixture.push(fixture.job("b", .keepLatest))
            try await fixture.push(fixture.job("c", .replace))
            #expect(try await session.beat().stops == [.init(id: "a", token: claim.token)])
            #expect(try await fixture.state("b") == .replaced)
        },
    ]
}
