import Errand
import Testing

extension ConformanceCase {
    private static let waiting: [HolderState] = [.ready, .scheduled, .retrying]

    static let endings: [ConformanceCase] =
        waiting.map { state in
            ConformanceCase("cancel of a job: \(state.rawValue)") { fixture in
                try await fixture.makeHolder(state)
                let failures = state == .retrying ? 1 : 0
                _ = try await fixture.news()
                #expect(try await fixture.cancel("old") == .cancelled)
                let events = try await fixture.log.drain()
                #expect(events.map(\.kind) == ["cancelled"])
                #expect(events.first?.attempt == failures)
                #expect(try await fixture.state("old") == .cancelled)
                #expect(try await fixture.total("cancelled") == 1)
                #expect(
                    try await fixture.receipt(fixture.job("new", .drop)).outcome == .accepted,
                    "its name is free at once"
                )
                #expect(try await fixture.session().claimedIDs() == ["new"])
            }
        }
        + waiting.map { state in
            ConformanceCase("delete of a job: \(state.rawValue)") { fixture in
                try await fixture.makeHolder(state)
                #expect(try await fixture.delete("old") == .deleted)
                #expect(try await fixture.state("old") == .deleted)
                #expect(try await fixture.delete("old") == .ended)
                #expect(
                    try await fixture.receipt(fixture.job("new", .drop)).outcome == .accepted,
                    "its name is free at once"
                )
                #expect(try await fixture.session().claimedIDs() == ["new"])
            }
        } + [
            ConformanceCase("cancel of a running job tells it to stop") { fixture in
                let (session, claim) = try await fixture.claimedHolder()
                #expect(try await session.beat() == Beat(claims: 1, stops: []))
                #expect(try await fixture.cancel("old") == .stopping)
                #expect(try await fixture.cancel("old") == .stopping)
                #expect(try await session.beat() == Beat(claims: 1, stops: [.init(id: "old", token: claim.token)]))
                #expect(try await fixture.state("old") == .running)
                #expect(try await fixture.news() == [])
                try await session.report(.cancelled, claim)
                #expect(try await session.beat() == Beat(claims: 0, stops: []))
            },
            ConformanceCase("delete of a running job is refused") { fixture in
                let (session, claim) = try await fixture.claimedHolder()
                #expect(try await fixture.delete("old") == .running)
                #expect(try await session.beat().stops == [])
                #expect(try await session.report(.finished, claim))
            },
            ConformanceCase("cancel and delete of a deferred job") { fixture in
                let (session, claim) = try await fixture.claimedHolder()
                try await fixture.push(fixture.job("one", .replace))
                #expect(try await fixture.cancel("one") == .cancelled)
                #expect(try await fixture.receipt(fixture.job("two", .replace)).outcome == .deferred)
                #expect(try await fixture.delete("two") == .deleted)
                #expect(try await fixture.news() == ["cancelled one", "cancelled two"])
                #expect(try await fixture.state("old") == .running)
                #expect(try await fixture.status().deferred == 0)
                #expect(try await session.report(.finished, claim))
                #expect(try await fixture.receipt(fixture.job("new", .drop)).outcome == .accepted)
            },
            ConformanceCase("cancel and delete of a dead job") { fixture in
                let (session, claim) = try await fixture.claimedHolder()
                try await session.report(.failed, claim)
                #expect(try await fixture.cancel("old") == .dead)
                #expect(try await fixture.delete("old") == .deleted)
                #expect(try await fixture.status().dead == 0)
                #expect(try await fixture.state("old") == .deleted)
                #expect(try await fixture.receipt(fixture.job("old")).outcome == .exists)
            },
            ConformanceCase("cancel and delete of a job that has ended or never was") { fixture in
                let session = try await fixture.session()
                try await fixture.pushPlain("plain", "kept")
                let claims = try await session.claim()
                try await session.report(.finished, try #require(claims.first))
                try await session.report(.finished, try #require(claims.last), result: "r")
                #expect(
                    try await fixture.broker.cancel(["plain", "kept", "never"], on: fixture.queue) == [
                        .ended, .ended, .notFound,
                    ]
                )
                #expect(
                    try await fixture.broker.delete(["plain", "kept", "never"], on: fixture.queue) == [
                        .ended, .deleted, .notFound,
                    ]
                )
                #expect(try await fixture.record("kept")?.result == [])
            },
            ConformanceCase("clear cancels waiting jobs and leaves running ones") { fixture in
                let (session, claim) = try await fixture.claimedHolder()
                try await fixture.push(fixture.job("next", .replace))
                try await fixture.push(
                    fixture.job("a"),
                    fixture.job("b", .drop, name: "b"),
                    fixture.job("c", priority: 9),
                    fixture.job("d", delay: 3_600_000),
                    fixture.job("p", operation: "rare", priority: 9)
                )
                let claimed = try await session.claim(2)
                try await session.report(.failed, try #require(claimed.first { $0.id == "c" }), retryDelay: 3_600_000)
                try await session.report(.unroutable, try #require(claimed.first { $0.id == "p" }))
                #expect(try await fixture.broker.clear(fixture.queue) == 6)
                #expect(try await fixture.broker.clear(fixture.queue) == 0)
                let status = try await fixture.status()
                #expect([status.ready, status.scheduled, status.retrying] == [0, 0, 0])
                #expect([status.running, status.deferred] == [1, 0])
                #expect(try await fixture.total("cancelled") == 6)
                #expect(try await fixture.receipt(fixture.job("e", .drop, name: "b")).outcome == .accepted)
                // The holder, which the cancelled job was to replace, continues.
                #expect(try await session.beat().stops.isEmpty)
                #expect(try await session.report(.finished, claim))
            },
            ConformanceCase("repeated calls of clear leave nothing") { fixture in
                for hundred in 0..<6 {
                    let jobs = try (0..<100).map { try fixture.job("j\(hundred * 100 + $0)") }
                    _ = try await fixture.broker.push(jobs, to: fixture.queue)
                }
                var cleared = 0
                while case let more = try await fixture.broker.clear(fixture.queue), more > 0 { cleared += more }
                #expect(cleared == 600)
                #expect(try await fixture.status().ready == 0)
            },
        ]

    static let retryingByHand = [
        ConformanceCase("a retried job starts its attempts again") { fixture in
            let (session, claim) = try await fixture.claimedHolder()
            try await session.report(.failed, claim)
            #expect(try await fixture.retry("old") == .retried)
            let record = try #require(try await fixture.record("old"))
            #expect(record.state == .ready)
            #expect(record.failures == 0)
            #expect(try await fixture.receipt(fixture.job("b", .drop)).outcome == .dropped, "it holds its name again")
            #expect(try await session.claimOne().attempt == 1)
            #expect(try await fixture.retry("old") == .notDead)
            #expect(try await fixture.retry("never") == .notFound)
        },
        ConformanceCase("waiting jobs can be made ready now and keep their spent attempts") { fixture in
            let session = try await fixture.session()
            try await fixture.push(fixture.job("b", .drop, delay: 3_600_000))
            #expect(try await fixture.retry("b") == .hurried)
            #expect(try await fixture.retry("b") == .notDead, "it is ready")
            #expect(try await fixture.receipt(fixture.job("c", .drop)).outcome == .dropped, "it holds its name still")
            let claim = try await session.claimOne()
            #expect(claim.id == "b" && claim.attempt == 1)
            try await session.report(.failed, claim, error: "first", retryDelay: 3_600_000)
            #expect(try await fixture.state("b") == .retrying)
            #expect(try await fixture.retry("b") == .hurried)
            #expect(try await session.claimOne().attempt == 2)
            #expect(try await fixture.retry("b") == .notDead, "it runs")
        },
        ConformanceCase("dead jobs are counted") { fixture in
            let (session, claim) = try await fixture.claimedHolder()
            try await session.report(.failed, claim)
            #expect(try await fixture.status().totals["dead"] == 1)
            #expect(try await fixture.retry("old") == .retried)
            try await session.report(.failed, try await session.claimOne())
            let status = try await fixture.status()
            #expect(status.totals["dead"] == 2 && status.totals["dead_trimmed"] == 0 && status.dead == 1)
        },
        ConformanceCase("a job is not retried while another one holds its name") { fixture in
            let (session, claim) = try await fixture.claimedHolder()
            try await session.report(.failed, claim)
            try await fixture.push(fixture.job("b", .drop))
            #expect(try await fixture.retry("old") == .nameTaken(holder: "b"))
            #expect(try await fixture.state("old") == .dead)
            #expect(try await fixture.cancel("b") == .cancelled)
            #expect(try await fixture.retry("old") == .retried)
        },
        ConformanceCase("a job without a name is retried whatever holds that name") { fixture in
            let session = try await fixture.session()
            try await fixture.push(fixture.job("a", .ignore, name: "the name"))
            try await session.report(.unreadable, try await session.claimOne(), error: "no")
            try await fixture.push(fixture.job("b", .drop))
            #expect(try await fixture.retry("a") == .retried)
        },
    ]
}
