import Errand
import Testing

extension ConformanceCase {
    static let reconciling = [
        ConformanceCase("a claim that the worker does not know goes back to the head of the line, nothing spent") {
            stage in
            let hand = try await stage.session()
            try await stage.pushPlain("a", "b", "c")
            let claims = try await hand.claim(2)
            let answer = try await hand.reconcile([claims[1]])
            #expect(answer == Reconciliation(givenBack: 1, lost: []))
            #expect(try await stage.news() == ["released a"])
            #expect(try await hand.claimedIDs(1) == ["a"])
            #expect(try await stage.record("a")?.failures == 0)
            #expect(try await hand.report(.finished, claims[1]))
        },
        ConformanceCase("several unknown claims keep their order") { stage in
            let hand = try await stage.session()
            try await stage.pushPlain("a", "b", "c", "d")
            _ = try await hand.claim(3)
            #expect(try await hand.reconcile([]).givenBack == 3)
            #expect(try await hand.claimedIDs() == ["a", "b", "c", "d"])
        },
        ConformanceCase("a run without a claim is named, one with another token too") { stage in
            let hand = try await stage.session()
            try await stage.pushPlain("a", "b")
            let claims = try await hand.claim(2)
            try await hand.report(.finished, claims[0])
            let forged = Claim(id: "b", token: claims[1].token + 1, attempt: 1, crashes: 0, body: claims[1].body)
            let answer = try await hand.reconcile([claims[0], forged])
            #expect(answer == Reconciliation(givenBack: 1, lost: ["a", "b"]))
        },
        ConformanceCase("nothing changes where both agree") { stage in
            let hand = try await stage.session()
            try await stage.pushPlain("a", "b")
            let claims = try await hand.claim(2)
            #expect(try await hand.reconcile(claims) == Reconciliation(givenBack: 0, lost: []))
            #expect(try await stage.news() == [])
            #expect(try await stage.status().running == 2)
        },
        ConformanceCase("a comparison from before the last call is refused") { stage in
            let hand = try await stage.session()
            try await stage.pushPlain("a")
            _ = try await hand.claim(1)
            await #expect(throws: BrokerError.self) { try await hand.reconcile([], call: 0) }
            #expect(try await stage.state("a") == .running)
        },
        ConformanceCase("an unknown claim that was to stop ends cancelled, one with a successor makes room for it") {
            stage in
            let hand = try await stage.session()
            try await stage.push(try stage.job("a"), try stage.job("b", .replace, name: "n"))
            _ = try await hand.claim(2)
            _ = try await stage.cancel("a")
            try await stage.push(try stage.job("c", .replace, name: "n"))
            #expect(try await hand.reconcile([]).givenBack == 2)
            #expect(try await stage.state("a") == .cancelled)
            #expect(try await stage.state("b") == .replaced)
            #expect(try await hand.claimedIDs() == ["c"])
        },
        ConformanceCase("a session that is not registered cannot compare") { stage in
            let hand = try await stage.session()
            try await hand.release()
            await #expect(throws: BrokerError.self) { try await hand.reconcile([]) }
        },
    ]
}
