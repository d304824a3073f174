import Errand
import Testing

extension ConformanceCase {
    static let quarantine = [
        ConformanceCase("a job that crashed three workers runs alone, and is dead after four more crashes") { fixture in
            let live = try await fixture.session()
            try await fixture.pushPlain("poison")
            for crashes in 0..<3 { try await fixture.crash(["poison"], crashes: crashes) }
            #expect(try await fixture.status().ready == 1)
            try await fixture.pushPlain("innocent")

            for alone in 0..<4 {
                let doomed = try await fixture.doomed()
                let claims = try await doomed.claim()
                #expect(claims.map(\.id) == ["poison"], "nothing else with it")
                #expect(claims.map(\.crashes) == [3 + alone])
                #expect(try await doomed.claim().isEmpty, "nothing else while it is held")
                if alone == 0 { #expect(try await live.claimedIDs() == ["innocent"], "others go on") }
                try await fixture.recover(1)
            }

            #expect(try await fixture.state("poison") == .dead)
            let record = try #require(try await fixture.record("poison"))
            #expect(record.failures == 0)
            #expect(record.crashes == 7)
            let reason = String(decoding: record.lastEvent, as: UTF8.self)
            #expect(reason.contains("its worker died 7 times while running it, 4 of them without another job"))
            let kept = record.events.compactMap { JobEvent(line: $0)?.event }
            #expect(kept == ["dead"] + Array(repeating: "recovered", count: 7))
            #expect(record.lastError?.contains("its worker died") == true)
            let news = try await fixture.news()
            #expect(news == Array(repeating: "recovered poison", count: 7) + ["dead poison"])
            #expect(try await fixture.session().claimedIDs() == [])
        },
        ConformanceCase("an innocent quarantined job is released from suspicion when it runs alone") { fixture in
            try await fixture.pushPlain("a", "b")
            for crashes in 0..<3 { try await fixture.crash(["a", "b"], crashes: crashes) }
            let session = try await fixture.session()
            let first = try await session.claim()
            #expect(first.count == 1)
            try await session.report(.finished, try #require(first.first))
            let second = try await session.claim()
            #expect(second.count == 1)
            try await session.report(.finished, try #require(second.first))
            try await fixture.pushPlain("c", "d")
            #expect(try await session.claimedIDs() == ["c", "d"], "the line is open again")
        },
        ConformanceCase("a session that holds jobs gets no quarantined job") { fixture in
            try await fixture.pushPlain("poison")
            for crashes in 0..<3 { try await fixture.crash(["poison"], crashes: crashes) }
            // The first session to claim becomes the quarantine owner; another one can have the other jobs.
            let (server, other) = (try await fixture.session(), try await fixture.session())
            #expect(try await server.claimedIDs() == ["poison"])
            try await fixture.pushPlain("a")
            #expect(try await other.claimedIDs() == ["a"])
            #expect(try await fixture.cancel("poison") == .stopping)
        },
        ConformanceCase("a quarantined job that was unroutable runs alone in a session with its operation") { fixture in
            let ignorant = try await fixture.session(operations: [:])
            let knowing = try await fixture.session()
            try await fixture.pushPlain("poison")
            for crashes in 0..<3 { try await fixture.crash(["poison"], crashes: crashes) }
            try await ignorant.report(.unroutable, try await ignorant.claimOne())
            try await fixture.pushPlain("a", "b")
            let other = try await knowing.claimOne()
            #expect(other.id == "a", "not with others")
            #expect(try await ignorant.claimedIDs() == ["b"], "and not for one without its operation")
            #expect(try await knowing.claimedIDs() == [], "nothing new while it waits for its turn")
            #expect(try await ignorant.claimedIDs() == [], "the other one is its owner")
            try await knowing.report(.finished, other)
            let poison = try await knowing.claimOne()
            #expect(poison.id == "poison")
            try await fixture.pushPlain("c")
            #expect(try await knowing.claimedIDs() == [])
            try await knowing.report(.finished, poison)
            #expect(try await knowing.claimedIDs() == ["c"])
        },
        ConformanceCase("an unroutable quarantined job stays in its list while another session is the quarantine owner")
        { fixture in
            let ignorant = try await fixture.session(operations: [:])
            try await fixture.pushPlain("p", "q")
            for crashes in 0..<3 { try await fixture.crash(["p", "q"], crashes: crashes) }
            let unroutable = try await ignorant.claimOne()
            try await ignorant.report(.unroutable, unroutable)
            let served = try await ignorant.claimOne()
            #expect(Set([unroutable.id, served.id]) == ["p", "q"])
            let knowing = try await fixture.session()
            #expect(try await knowing.claimedIDs() == [], "only one session is the quarantine owner")
            try await ignorant.report(.finished, served)
            #expect(try await ignorant.claimedIDs() == [])
            #expect(try await knowing.claimedIDs() == [unroutable.id])
        },
        ConformanceCase("an idle session replaces a quarantine owner that still holds other jobs") { fixture in
            let busy = try await fixture.session()
            try await fixture.pushPlain("a")
            _ = try await busy.claimOne()
            try await fixture.pushPlain("poison")
            for crashes in 0..<3 { try await fixture.crash(["poison"], crashes: crashes) }
            #expect(try await busy.claimedIDs() == [], "first it is to come to an end with what it holds")
            let stranger = try await fixture.session(operations: [:])
            #expect(try await stranger.claimedIDs() == [], "it could only make the job unroutable")
            let idle = try await fixture.session()
            #expect(try await idle.claimedIDs() == ["poison"])
            try await fixture.pushPlain("b", "c")
            #expect(try await stranger.claim(1).map(\.id) == ["b"])
            #expect(try await busy.claimedIDs() == ["c"], "it is no longer the quarantine owner")
        },
        ConformanceCase("two busy sessions do not take the quarantine from each other") { fixture in
            let (first, second) = (try await fixture.session(), try await fixture.session())
            try await fixture.pushPlain("a", "b")
            let held = try await first.claim(1)
            #expect(try await second.claim(1).map(\.id) == ["b"])
            try await fixture.pushPlain("poison")
            for crashes in 0..<3 { try await fixture.crash(["poison"], crashes: crashes) }
            try await fixture.pushPlain("c")
            #expect(try await first.claimedIDs() == [])
            #expect(try await second.claimedIDs() == ["c"], "the other one is to serve it")
            try await first.report(.finished, try #require(held.first))
            #expect(try await first.claimedIDs() == ["poison"])
        },
        ConformanceCase("a cancelled quarantined job delays no other") { fixture in
            let busy = try await fixture.session()
            try await fixture.pushPlain("a")
            _ = try await busy.claimOne()
            try await fixture.pushPlain("poison")
            for crashes in 0..<3 { try await fixture.crash(["poison"], crashes: crashes) }
            #expect(try await busy.claimedIDs() == [])
            #expect(try await fixture.cancel("poison") == .cancelled)
            try await fixture.pushPlain("b")
            #expect(try await busy.claimedIDs() == ["b"])
        },
        ConformanceCase("a released job stays quarantined, and a retried job does not") { fixture in
            try await fixture.pushPlain("poison")
            for crashes in 0..<3 { try await fixture.crash(["poison"], crashes: crashes) }
            let session = try await fixture.session()
            try await session.report(.released, try await session.claimOne())
            try await fixture.pushPlain("a")
            let claim = try await session.claimOne()
            #expect(claim.id == "poison")
            try await session.report(.failed, claim)
            #expect(try await fixture.retry("poison") == .retried)
            #expect(try await session.claimedIDs() == ["a", "poison"])
            #expect(try await fixture.record("poison")?.crashes == 0)
        },
    ]
}

extension Fixture {
    /// Lets a worker claim exactly these jobs, start them and die.
    func crash(_ ids: [String], crashes: Int) async throws {
        let doomed = try await doomed()
        let claims = try await doomed.claim()
        #expect(claims.map(\.id).sorted() == ids)
        #expect(claims.allSatisfy { $0.crashes == crashes })
        try await recover(ids.count)
    }
}
