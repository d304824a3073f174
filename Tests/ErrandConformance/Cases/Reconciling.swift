import Errand
import Testing

extension ConformanceCase {
    static let reconciling = [
        ConformanceCase("a claim unknown to its worker returns to the head of the ready list and spends nothing") {
            fixture in
            let session = try await fixture.session()
            try await fixture.pushPlain("a", "b", "c")
            let claims = try await session.claim(2)
            let answer = try await session.reconcile([claims[1]])
            #expect(answer == Reconciliation(released: 1, lost: []))
            #expect(try await fixture.news() == ["released a"])
            #expect(try await session.claimedIDs(1) == ["a"])
            #expect(try await fixture.record("a")?.failures == 0)
            #expect(try await session.report(.finished, claims[1]))
        },
        ConformanceCase("several unknown claims keep their order") { fixture in
            let session = try await fixture.session()
            try await fixture.pushPlain("a", "b", "c", "d")
            _ = try await session.claim(3)
            #expect(try await session.reconcile([]).released == 3)
            #expect(try await session.claimedIDs() == ["a", "b", "c", "d"])
        },
        ConformanceCase("reconciliation lists runs without a claim and runs with another token") { fixture in
            let session = try await fixture.session()
            try await fixture.pushPlain("a", "b")
            let claims = try await session.claim(2)
            try await session.report(.finished, claims[0])
            let forged = Claim(id: "b", token: claims[1].token + 1, attempt: 1, crashes: 0, body: claims[1].body)
            let answer = try await session.reconcile([claims[0], forged])
            #expect(answer == Reconciliation(released: 1, lost: ["a", "b"]))
        },
        ConformanceCase("nothing changes if both sides agree") { fixture in
            let session = try await fixture.session()
            try await fixture.pushPlain("a", "b")
            let claims = try await session.claim(2)
            #expect(try await session.reconcile(claims) == Reconciliation(released: 0, lost: []))
            #expect(try await fixture.news() == [])
            #expect(try await fixture.status().running == 2)
        },
        ConformanceCase("a reconciliation older than the last exchange is rejected") { fixture in
            let session = try await fixture.session()
            try await fixture.pushPlain("a")
            _ = try await session.claim(1)
            await #expect(throws: BrokerError.self) { try await session.reconcile([], call: 0) }
            #expect(try await fixture.state("a") == .running)
        },
        ConformanceCase("an unknown claim with a stop request ends cancelled, or replaced if it has a successor") {
            fixture in
            let session = try await fixture.session()
            try await fixture.push(try fixture.job("a"), try fixture.job("b", .replace, name: "n"))
            _ = try await session.claim(2)
            _ = try await fixture.cancel("a")
            try await fixture.push(try fixture.job("c", .replace, name: "n"))
            #expect(try await session.reconcile([]).released == 2)
            #expect(try await fixture.state("a") == .cancelled)
            #expect(try await fixture.state("b") == .replaced)
            #expect(try await session.claimedIDs() == ["c"])
        },
        ConformanceCase("a session that is not registered cannot reconcile") { fixture in
            let session = try await fixture.session()
            try await session.release()
            await #expect(throws: BrokerError.self) { try await session.reconcile([]) }
        },
    ]
}
