import Errand
import Testing

extension ConformanceCase {
    static let lines = [
        ConformanceCase("jobs of one priority are claimed in order") { fixture in
            let session = try await fixture.session()
            try await fixture.pushPlain("a", "b", "c")
            try await fixture.pushPlain("d", "e")
            #expect(try await session.claimedIDs(2) == ["a", "b"])
            #expect(try await session.claimedIDs() == ["c", "d", "e"])
            #expect(try await session.claimedIDs() == [])
        },
        ConformanceCase("released jobs return to the head in order and spend nothing") { fixture in
            let session = try await fixture.session()
            try await fixture.pushPlain("a", "b", "c", "d", "e")
            let claims = try await session.claim(3)
            let reports = claims.map { TestSession.outcome(.released, $0) }
            #expect(try await session.exchange(reports: reports).accepted == [true, true, true])
            let again = try await session.claim()
            #expect(again.map(\.id) == ["a", "b", "c", "d", "e"])
            #expect(again.allSatisfy { $0.attempt == 1 && $0.crashes == 0 })
            #expect(try await fixture.total("released") == 3)
        },
        ConformanceCase("the jobs of a released session return to the head in order and spend nothing") { fixture in
            let session = try await fixture.session()
            try await fixture.pushPlain("b", "a", "c", "e", "d")
            _ = try await session.claim(2)
            _ = try await session.claim(1)
            try await session.release()
            let again = try await fixture.session().claim()
            #expect(again.map(\.id) == ["b", "a", "c", "e", "d"])
            #expect(again.allSatisfy { $0.attempt == 1 && $0.crashes == 0 })
            #expect(try await fixture.news().sorted() == ["released a", "released b", "released c"])
        },
        ConformanceCase("one call finishes and claims") { fixture in
            let session = try await fixture.session()
            try await fixture.pushPlain("a", "b")
            let report = TestSession.outcome(.finished, try await session.claimOne())
            let answer = try await session.exchange(reports: [report], wanted: 1)
            #expect(answer.accepted == [true])
            #expect(answer.claims.map(\.id) == ["b"])
            #expect(try await fixture.status().running == 1)
        },
        ConformanceCase("a call that wants no jobs gets none") { fixture in
            let session = try await fixture.session()
            try await fixture.pushPlain("a")
            #expect(try await session.exchange(wanted: 0).claims.isEmpty)
            #expect(try await fixture.status().ready == 1)
        },
        ConformanceCase("two sessions never get the same job") { fixture in
            for hundred in 0..<5 {
                let jobs = try (0..<100).map { try fixture.job("j\(hundred * 100 + $0)") }
                _ = try await fixture.broker.push(jobs, to: fixture.queue)
            }
            let claimed = try await withThrowingTaskGroup(of: [String].self) { group in
                for _ in 1...5 {
                    group.addTask {
                        let session = try await fixture.session()
                        var ids: [String] = []
                        while case let more = try await session.claimedIDs(7), !more.isEmpty { ids += more }
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
