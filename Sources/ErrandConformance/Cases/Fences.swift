import Errand
import Testing

extension ConformanceCase {
    static let fences = [
        ConformanceCase("a report with another token changes nothing") { stage in
            let hand = try await stage.session()
            try await stage.pushPlain("a")
            let claim = try await hand.claimOne()
            let forged = Claim(id: "a", token: claim.token + 1, attempt: 1, crashes: 0, body: claim.body)
            #expect(try await !hand.report(.finished, forged))
            #expect(try await stage.state("a") == .running)
            #expect(try await stage.news() == [])
        },
        ConformanceCase("a report of another session changes nothing") { stage in
            let (hand, other) = (try await stage.session(), try await stage.session())
            try await stage.pushPlain("a")
            let claim = try await hand.claimOne()
            #expect(try await !other.report(.finished, claim))
            #expect(try await stage.state("a") == .running)
        },
        ConformanceCase("a finish counts once") { stage in
            let hand = try await stage.session()
            try await stage.pushPlain("a")
            let report = Hand.outcome(.finished, try await hand.claimOne())
            #expect(try await hand.exchange(reports: [report, report]).accepted == [true, false])
            #expect(try await hand.exchange(reports: [report]).accepted == [false])
            #expect(try await stage.news() == ["finished a"])
            #expect(try await stage.total("finished") == 1)
        },
        ConformanceCase("a finish of a claim that was taken back changes nothing, here and elsewhere") { stage in
            let (first, second) = (try await stage.session(), try await stage.session())
            try await stage.pushPlain("a")
            let old = try await first.claimOne()
            try await first.report(.released, old)
            let new = try await second.claimOne()
            #expect(new.token > old.token)
            #expect(try await !first.report(.finished, old))
            #expect(try await !second.report(.finished, old))
            #expect(try await stage.news() == ["released a"])
            #expect(try await second.report(.finished, new))
        },
        ConformanceCase("tokens grow with every claiming call") { stage in
            let hands = [try await stage.session(), try await stage.session()]
            var tokens: [Token] = []
            for number in 1...6 {
                try await stage.pushPlain("j\(number)")
                tokens.append(try await hands[number % 2].claimOne().token)
            }
            #expect(zip(tokens, tokens.dropFirst()).allSatisfy(<))
        },
        ConformanceCase("a resend of a call gets the same verdicts and the same claims") { stage in
            let hand = try await stage.session()
            try await stage.pushPlain("a", "b", "c", "d")
            let report = Hand.outcome(.finished, try await hand.claimOne())
            let stale = OutcomeReport(id: "b", token: 1, verb: .finished, attempt: 1, fragment: report.fragment)
            let answer = try await hand.exchange(reports: [report, stale], wanted: 2)
            let again = try await hand.exchange(reports: [report, stale], wanted: 2, call: hand.lastCall)
            #expect(answer.accepted == [true, false])
            #expect(again.accepted == answer.accepted)
            #expect(answer.claims.map(\.id) == ["b", "c"])
            #expect(again.claims.map(\.id).sorted() == ["b", "c"])
            #expect(Set(again.claims.map(\.token)) == Set(answer.claims.map(\.token)))
            #expect(again.claims.map(\.body).sorted { $0.count < $1.count }.allSatisfy { !$0.isEmpty })
            #expect(try await stage.status().ready == 1, "the resend claimed nothing more")
            #expect(try await stage.total("finished") == 1)
        },
        ConformanceCase("a resend gives only claims that are still held") { stage in
            let (hand, other) = (try await stage.session(), try await stage.session())
            try await stage.pushPlain("a")
            _ = try await hand.exchange(wanted: 1)
            #expect(try await hand.exchange(wanted: 1, call: hand.lastCall).claims.map(\.id) == ["a"])
            try await hand.release()
            try await stage.broker.register(hand.session, on: stage.queue)
            #expect(try await other.claimedIDs() == ["a"])
            #expect(try await hand.exchange(wanted: 1, call: hand.lastCall).claims.isEmpty)
        },
        ConformanceCase("a session that is not registered is lost") { stage in
            let hand = try await stage.session()
            try await stage.pushPlain("a")
            try await hand.release()
            await #expect { try await hand.claim() } throws: { ($0 as? BrokerError)?.code == .sessionLost }
            await #expect { try await hand.beat() } throws: { ($0 as? BrokerError)?.code == .sessionLost }
            #expect(try await stage.status().ready == 1)
        },
    ]
}
