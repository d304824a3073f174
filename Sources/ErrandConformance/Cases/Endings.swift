import Errand
import Testing

extension ConformanceCase {
    private static let waiting: [HolderState] = [.ready, .scheduled, .retrying]

    static let endings: [ConformanceCase] =
        waiting.map { state in
            ConformanceCase("cancel of a job: \(state.rawValue)") { stage in
                try await stage.makeHolder(state)
                let failures = state == .retrying ? 1 : 0
                _ = try await stage.news()
                #expect(try await stage.cancel("old") == .cancelled)
                let events = try await stage.log.drain()
                #expect(events.map(\.kind) == ["cancelled"])
                #expect(events.first?.attempt == failures)
                #expect(try await stage.state("old") == .cancelled)
                #expect(try await stage.total("cancelled") == 1)
                #expect(
                    try await stage.receipt(stage.job("new", .drop)).outcome == .accepted,
                    "its name is free at once"
                )
                #expect(try await stage.session().claimedIDs() == ["new"])
            }
        }
        + waiting.map { state in
            ConformanceCase("delete of a job: \(state.rawValue)") { stage in
                try await stage.makeHolder(state)
                #expect(try await stage.delete("old") == .deleted)
                #expect(try await stage.state("old") == .deleted)
                #expect(try await stage.delete("old") == .ended)
                #expect(
                    try await stage.receipt(stage.job("new", .drop)).outcome == .accepted,
                    "its name is free at once"
                )
                #expect(try await stage.session().claimedIDs() == ["new"])
            }
        } + [
            ConformanceCase("cancel of a running job tells it to stop") { stage in
                let (hand, claim) = try await stage.claimedHolder()
                #expect(try await hand.beat() == Beat(claims: 1, stops: []))
                #expect(try await stage.cancel("old") == .stopping)
                #expect(try await stage.cancel("old") == .stopping)
                #expect(try await hand.beat() == Beat(claims: 1, stops: [.init(id: "old", token: claim.token)]))
                #expect(try await stage.state("old") == .running)
                #expect(try await stage.news() == [])
                try await hand.report(.cancelled, claim)
                #expect(try await hand.beat() == Beat(claims: 0, stops: []))
            },
            ConformanceCase("delete of a running job is refused") { stage in
                let (hand, claim) = try await stage.claimedHolder()
                #expect(try await stage.delete("old") == .running)
                #expect(try await hand.beat().stops == [])
                #expect(try await hand.report(.finished, claim))
            },
            ConformanceCase("cancel and delete of a deferred job") { stage in
                let (hand, claim) = try await stage.claimedHolder()
                try await stage.push(stage.job("one", .replace))
                #expect(try await stage.cancel("one") == .cancelled)
                #expect(try await stage.receipt(stage.job("two", .replace)).outcome == .deferred)
                #expect(try await stage.delete("two") == .deleted)
                #expect(try await stage.news() == ["cancelled one", "cancelled two"])
                #expect(try await stage.state("old") == .running)
                #expect(try await stage.status().deferred == 0)
                #expect(try await hand.report(.finished, claim))
                #expect(try await stage.receipt(stage.job("new", .drop)).outcome == .accepted)
            },
            ConformanceCase("cancel and delete of a dead job") { stage in
                let (hand, claim) = try await stage.claimedHolder()
                try await hand.report(.failed, claim)
                #expect(try await stage.cancel("old") == .dead)
                #expect(try await stage.delete("old") == .deleted)
                #expect(try await stage.status().dead == 0)
                #expect(try await stage.state("old") == .deleted)
                #expect(try await stage.receipt(stage.job("old")).outcome == .exists)
            },
            ConformanceCase("cancel and delete of a job that has ended or never was") { stage in
                let hand = try await stage.session()
                try await stage.pushPlain("plain", "kept")
                let claims = try await hand.claim()
                try await hand.report(.finished, try #require(claims.first))
                try await hand.report(.finished, try #require(claims.last), result: "r")
                #expect(
                    try await stage.broker.cancel(["plain", "kept", "never"], on: stage.queue) == [
                        .ended, .ended, .notFound,
                    ]
                )
                #expect(
                    try await stage.broker.delete(["plain", "kept", "never"], on: stage.queue) == [
                        .ended, .deleted, .notFound,
                    ]
                )
                #expect(try await stage.record("kept")?.result == [])
            },
            ConformanceCase("clear cancels what waits and leaves what runs") { stage in
                let (hand, claim) = try await stage.claimedHolder()
                try await stage.push(stage.job("next", .replace))
                try await stage.push(
                    stage.job("a"),
                    stage.job("b", .drop, name: "b"),
                    stage.job("c", priority: 9),
                    stage.job("d", delay: 3_600_000),
                    stage.job("p", operation: "rare", priority: 9)
                )
                let claimed = try await hand.claim(2)
                try await hand.report(.failed, try #require(claimed.first { $0.id == "c" }), retryDelay: 3_600_000)
                try await hand.report(.parked, try #require(claimed.first { $0.id == "p" }))
                #expect(try await stage.broker.clear(stage.queue) == 6)
                #expect(try await stage.broker.clear(stage.queue) == 0)
                let status = try await stage.status()
                #expect([status.ready, status.scheduled, status.retrying] == [0, 0, 0])
                #expect([status.running, status.deferred] == [1, 0])
                #expect(try await stage.total("cancelled") == 6)
                #expect(try await stage.receipt(stage.job("e", .drop, name: "b")).outcome == .accepted)
                // Who was to give way to what was cancelled goes on.
                #expect(try await hand.beat().stops.isEmpty)
                #expect(try await hand.report(.finished, claim))
            },
            ConformanceCase("clear does as much as it can in a call, until nothing is left") { stage in
                for hundred in 0..<6 {
                    let jobs = try (0..<100).map { try stage.job("j\(hundred * 100 + $0)") }
                    _ = try await stage.broker.push(jobs, to: stage.queue)
                }
                var cleared = 0
                while case let more = try await stage.broker.clear(stage.queue), more > 0 { cleared += more }
                #expect(cleared == 600)
                #expect(try await stage.status().ready == 0)
            },
        ]

    static let reviving = [
        ConformanceCase("a revived job begins anew") { stage in
            let (hand, claim) = try await stage.claimedHolder()
            try await hand.report(.failed, claim)
            #expect(try await stage.revive("old") == .revived)
            let record = try #require(try await stage.record("old"))
            #expect(record.state == .ready)
            #expect(record.failures == 0)
            #expect(try await stage.receipt(stage.job("b", .drop)).outcome == .dropped, "it holds its name again")
            #expect(try await hand.claimOne().attempt == 1)
            #expect(try await stage.revive("old") == .notDead)
            #expect(try await stage.revive("never") == .notFound)
        },
        ConformanceCase("jobs that wait for their time can be put in line now, with what they have spent") { stage in
            let hand = try await stage.session()
            try await stage.push(stage.job("b", .drop, delay: 3_600_000))
            #expect(try await stage.revive("b") == .hurried)
            #expect(try await stage.revive("b") == .notDead, "it is in line")
            #expect(try await stage.receipt(stage.job("c", .drop)).outcome == .dropped, "it holds its name still")
            let claim = try await hand.claimOne()
            #expect(claim.id == "b" && claim.attempt == 1)
            try await hand.report(.failed, claim, error: "first", retryDelay: 3_600_000)
            #expect(try await stage.state("b") == .retrying)
            #expect(try await stage.revive("b") == .hurried)
            #expect(try await hand.claimOne().attempt == 2)
            #expect(try await stage.revive("b") == .notDead, "it runs")
        },
        ConformanceCase("jobs that die are counted") { stage in
            let (hand, claim) = try await stage.claimedHolder()
            try await hand.report(.failed, claim)
            #expect(try await stage.status().totals["dead"] == 1)
            #expect(try await stage.revive("old") == .revived)
            try await hand.report(.failed, try await hand.claimOne())
            let status = try await stage.status()
            #expect(status.totals["dead"] == 2 && status.totals["dead_trimmed"] == 0 && status.dead == 1)
        },
        ConformanceCase("a job is not revived while another one holds its name") { stage in
            let (hand, claim) = try await stage.claimedHolder()
            try await hand.report(.failed, claim)
            try await stage.push(stage.job("b", .drop))
            #expect(try await stage.revive("old") == .nameTaken(holder: "b"))
            #expect(try await stage.state("old") == .dead)
            #expect(try await stage.cancel("b") == .cancelled)
            #expect(try await stage.revive("old") == .revived)
        },
        ConformanceCase("a job without a name is revived whatever goes by its name") { stage in
            let hand = try await stage.session()
            try await stage.push(stage.job("a", .ignore, name: "the name"))
            try await hand.report(.unreadable, try await hand.claimOne(), error: "no")
            try await stage.push(stage.job("b", .drop))
            #expect(try await stage.revive("a") == .revived)
        },
    ]
}
