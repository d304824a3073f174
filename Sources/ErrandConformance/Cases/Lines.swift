import Errand
import Testing

extension ConformanceCase {
    static let lines = [
        ConformanceCase("jobs of a priority are handed out in their order") { stage in
            let hand = try await stage.session()
            try await stage.pushPlain("a", "b", "c")
            try await stage.pushPlain("d", "e")
            #expect(try await hand.claimedIDs(2) == ["a", "b"])
            #expect(try await hand.claimedIDs() == ["c", "d", "e"])
            #expect(try await hand.claimedIDs() == [])
        },
        ConformanceCase("released jobs go to the head in their order, nothing spent") { stage in
            let hand = try await stage.session()
            try await stage.pushPlain("a", "b", "c", "d", "e")
            let claims = try await hand.claim(3)
            let reports = claims.map { Hand.outcome(.released, $0) }
            #expect(try await hand.exchange(reports: reports).accepted == [true, true, true])
            let again = try await hand.claim()
            #expect(again.map(\.id) == ["a", "b", "c", "d", "e"])
            #expect(again.allSatisfy { $0.attempt == 1 && $0.crashes == 0 })
            #expect(try await stage.total("released") == 3)
        },
        ConformanceCase("what a released session held goes to the head in its order, nothing spent") { stage in
            let hand = try await stage.session()
            try await stage.pushPlain("b", "a", "c", "e", "d")
            _ = try await hand.claim(2)
            _ = try await hand.claim(1)
            try await hand.release()
            let again = try await stage.session().claim()
            #expect(again.map(\.id) == ["b", "a", "c", "e", "d"])
            #expect(again.allSatisfy { $0.attempt == 1 && $0.crashes == 0 })
            #expect(try await stage.news().sorted() == ["released a", "released b", "released c"])
        },
        ConformanceCase("finishing and claiming go in one call") { stage in
            let hand = try await stage.session()
            try await stage.pushPlain("a", "b")
            let report = Hand.outcome(.finished, try await hand.claimOne())
            let answer = try await hand.exchange(reports: [report], wanted: 1)
            #expect(answer.accepted == [true])
            #expect(answer.claims.map(\.id) == ["b"])
            #expect(try await stage.status().running == 1)
        },
        ConformanceCase("a call that wants nothing gets nothing") { stage in
            let hand = try await stage.session()
            try await stage.pushPlain("a")
            #expect(try await hand.exchange(wanted: 0).claims.isEmpty)
            #expect(try await stage.status().ready == 1)
        },
        ConformanceCase("two sessions never get the same job") { stage in
            for hundred in 0..<5 {
                let jobs = try (0..<100).map { try stage.job("j\(hundred * 100 + $0)") }
                _ = try await stage.broker.push(jobs, to: stage.queue)
            }
            let claimed = try await withThrowingTaskGroup(of: [String].self) { group in
                for _ in 1...5 {
                    group.addTask {
                        let hand = try await stage.session()
                        var ids: [String] = []
                        while case let more = try await hand.claimedIDs(7), !more.isEmpty { ids += more }
                        return ids
                    }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            #expect(claimed.count == 500)
            #expect(Set(claimed).count == 500)
        },
    ]
}
