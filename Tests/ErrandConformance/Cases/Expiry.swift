import Errand
import Testing

/// Jobs that expire before a worker claims them.
extension ConformanceCase {
    static let expiry: [ConformanceCase] = [
        ConformanceCase("an expired job ends when a call meets it, which tells its worker") { fixture in
            try await fixture.pushExpired("a", .drop)
            #expect(try await fixture.state("a") == .ready)
            try await fixture.pushPlain("z")
            let answer = try await fixture.session().exchange(wanted: 5)
            #expect(answer.claims.map(\.id) == ["z"])
            #expect(answer.expired == [ExpiredJob(id: "a", operation: Fixture.operation)])
            #expect(try await fixture.news() == ["expired a"])
            #expect(try await fixture.total("expired") == 1)
            let record = try #require(try await fixture.record("a"))
            #expect(record.state == .expired && record.events.count == 1)
            // Its name is free, and its id is remembered.
            #expect(try await fixture.receipt(fixture.job("b", .drop)).outcome == .accepted)
            #expect(try await fixture.receipt(fixture.job("a", .drop)).outcome == .exists)
        },
        ConformanceCase("many expired jobs end without using up what a call may claim") { fixture in
            for number in 0..<20 { try await fixture.push(fixture.job("a\(number)", expiresIn: .milliseconds(1))) }
            try await fixture.pushExpired("last")
            try await fixture.pushPlain("y", "z")
            let answer = try await fixture.session().exchange(wanted: 2)
            #expect(answer.claims.map(\.id) == ["y", "z"] && answer.expired.count == 21)
        },
        ConformanceCase("a job that was claimed in time no longer expires") { fixture in
            let session = try await fixture.session()
            let limit = Duration.seconds(2)
            try await fixture.push(
                fixture.job("a", expiresIn: limit),
                fixture.job("b", expiresIn: limit),
                fixture.job("c", timeout: .seconds(60), expiresIn: limit)
            )
            let claims = try await session.claim(3)
            try #require(claims.map(\.id) == ["a", "b", "c"], "the machine is too slow to claim jobs within 2 s")
            try await fixture.pass(limit)
            try await session.report(.failed, claims[0], retryDelay: 0)
            try await session.report(.snoozed, claims[1], retryDelay: 0)
            try await session.report(.released, claims[2])
            _ = try await fixture.broker.promote(on: fixture.queue)
            #expect(try await Set(session.claimedIDs()) == ["a", "b", "c"])
        },
        ConformanceCase("a job that is due after its expiry expires when it is ready") { fixture in
            try await fixture.push(fixture.job("a", delay: 50, expiresIn: .milliseconds(1)))
            try await fixture.eventually("a is ready") {
                _ = try await fixture.broker.promote(on: fixture.queue)
                return try await fixture.state("a") == .ready
            }
            #expect(try await fixture.session().claimedIDs() == [])
            #expect(try await fixture.state("a") == .expired)
        },
        ConformanceCase("an expired job that no call has met can be cancelled and replaced") { fixture in
            try await fixture.pushExpired("a", .replace)
            #expect(try await fixture.receipt(fixture.job("b", .replace)).outcome == .replaced)
            try await fixture.pushExpired("c")
            #expect(try await fixture.cancel("c") == .cancelled)
            // A replacement has an expiry of its own, or none.
            #expect(try await fixture.session().claimedIDs() == ["b"])
        },
        ConformanceCase("the body of a claimed job can be read") { fixture in
            try await fixture.push(
                fixture.job("a", timeout: .seconds(7), retries: 2, expiresIn: .seconds(3600)),
                fixture.job("b", expiresIn: .seconds(3600))
            )
            let waiting = try #require(try await fixture.record("a"))
            #expect(try JobEnvelope.read(stored: waiting.body).description.expiresIn == .seconds(3600))
            let claims = try await fixture.session().claim(2)
            let jobs = try claims.map { try JobEnvelope.read(stored: $0.body) }
            #expect(jobs.map(\.timeout) == [.seconds(7), nil] && jobs.map(\.retries) == [2, nil])
            #expect(jobs.allSatisfy { $0.description.operation == Fixture.operation })
            #expect(claims[1].body == (try await fixture.record("b"))?.body)
        },
    ]
}

extension Fixture {
    /// Pushes a job, and waits until it has expired.
    func pushExpired(_ id: String, _ policy: UniquenessPolicy = .ignore) async throws {
        try await push(job(id, policy, expiresIn: .milliseconds(1)))
        try await pass(.milliseconds(1))
    }

    /// Waits until this time has passed by the broker's clock.
    func pass(_ time: Duration) async throws {
        let (seconds, attoseconds) = time.components
        let end = try await broker.now(on: queue) + seconds * 1000 + attoseconds / 1_000_000_000_000_000
        try await eventually("\(time) have passed") { try await broker.now(on: queue) > end }
    }
}
