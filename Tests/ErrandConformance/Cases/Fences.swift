import Errand
import Testing

extension ConformanceCase {
    static let fences = [
        ConformanceCase("a report with another token changes nothing") { fixture in
            let session = try await fixture.session()
            try await fixture.pushPlain("a")
            let claim = try await session.claimOne()
            let forged = Claim(id: "a", token: claim.token + 1, attempt: 1, crashes: 0, body: claim.body)
            #expect(try await !session.report(.finished, forged))
            #expect(try await fixture.state("a") == .running)
            #expect(try await fixture.news() == [])
        },
        ConformanceCase("reports with another token change nothing beside others with the right one") { fixture in
            let session = try await fixture.session()
            try await fixture.pushPlain("a", "b", "c", "d")
            let reports = try await session.claim().map { claim in
                let token = claim.id < "c" ? claim.token : claim.token + 1
                let sent = Claim(id: claim.id, token: token, attempt: 1, crashes: 0, body: claim.body)
                return TestSession.outcome(.finished, sent)
            }
            #expect(try await session.exchange(reports: reports).accepted == [true, true, false, false])
            #expect(try await fixture.status().running == 2)
        },
        ConformanceCase("a report of another session changes nothing") { fixture in
            let (session, other) = (try await fixture.session(), try await fixture.session())
            try await fixture.pushPlain("a")
            let claim = try await session.claimOne()
            #expect(try await !other.report(.finished, claim))
            #expect(try await fixture.state("a") == .running)
        },
        ConformanceCase("a finish counts once") { fixture in
            let session = try await fixture.session()
            try await fixture.pushPlain("a")
            let report = TestSession.outcome(.finished, try await session.claimOne())
            #expect(try await session.exchange(reports: [report, report]).accepted == [true, false])
            #expect(try await session.exchange(reports: [report]).accepted == [false])
            #expect(try await fixture.news() == ["finished a"])
            #expect(try await fixture.total("finished") == 1)
        },
        ConformanceCase("a finish with the token of an earlier claim changes nothing, from either session") { fixture in
            let (first, second) = (try await fixture.session(), try await fixture.session())
            try await fixture.pushPlain("a")
            let old = try await first.claimOne()
            try await first.report(.released, old)
            let new = try await second.claimOne()
            #expect(new.token > old.token)
            #expect(try await !first.report(.finished, old))
            #expect(try await !second.report(.finished, old))
            #expect(try await fixture.news() == ["released a"])
            #expect(try await second.report(.finished, new))
        },
        ConformanceCase("tokens grow with every claiming call") { fixture in
            let sessions = [try await fixture.session(), try await fixture.session()]
            var tokens: [Token] = []
            for number in 1...6 {
                try await fixture.pushPlain("j\(number)")
                tokens.append(try await sessions[number % 2].claimOne().token)
            }
            #expect(zip(tokens, tokens.dropFirst()).allSatisfy(<))
        },
        ConformanceCase("a repeated call gets the same outcomes and claims") { fixture in
            let session = try await fixture.session()
            try await fixture.pushPlain("a", "b", "c", "d")
            let report = TestSession.outcome(.finished, try await session.claimOne())
            let stale = OutcomeReport(id: "b", token: 1, verb: .finished, attempt: 1, fragment: report.fragment)
            let answer = try await session.exchange(reports: [report, stale], wanted: 2)
            let again = try await session.exchange(reports: [report, stale], wanted: 2, call: session.lastCall)
            #expect(answer.accepted == [true, false])
            #expect(again.accepted == answer.accepted)
            #expect(answer.claims.map(\.id) == ["b", "c"])
            #expect(again.claims.map(\.id).sorted() == ["b", "c"])
            #expect(Set(again.claims.map(\.token)) == Set(answer.claims.map(\.token)))
            #expect(Set(again.claims.map(\.body)) == Set(answer.claims.map(\.body)))
            #expect(try await fixture.status().ready == 1, "the resend claimed nothing more")
            #expect(try await fixture.total("finished") == 1)
        },
        ConformanceCase("the reply to a repeated call has only claims that are still held") { fixture in
            let (session, other) = (try await fixture.session(), try await fixture.session())
            try await fixture.pushPlain("a")
            _ = try await session.exchange(wanted: 1)
            #expect(try await session.exchange(wanted: 1, call: session.lastCall).claims.map(\.id) == ["a"])
            #expect(try await session.reconcile([]).released == 1)
            #expect(try await other.claimedIDs() == ["a"])
            #expect(try await session.exchange(wanted: 1, call: session.lastCall).claims.isEmpty)
        },
        ConformanceCase("a session that is not registered is lost") { fixture in
            let session = try await fixture.session()
            try await fixture.pushPlain("a")
            try await session.release()
            await #expect { try await session.claim() } throws: { ($0 as? BrokerError)?.code == .sessionLost }
            await #expect { try await session.beat() } throws: { ($0 as? BrokerError)?.code == .sessionLost }
            #expect(try await fixture.status().ready == 1)
        },
    ]
}
