import Errand
import Testing

extension ConformanceCase {
    static let parking = [
        ConformanceCase("a job of an unknown operation waits for a session that knows it, nothing spent") { stage in
            let ignorant = try await stage.session()
            try await stage.push(stage.job("a", operation: "rare.thing"), stage.job("b"))
            try await ignorant.report(.parked, try await ignorant.claimOne())
            #expect(try await stage.status().unknownOperations == ["rare.thing": 1])
            #expect(try await stage.status().ready == 2)
            #expect(try await stage.state("a") == .ready)
            #expect(try await ignorant.claimedIDs() == ["b"])
            #expect(try await ignorant.claimedIDs() == [])

            let expert = try await stage.session(operations: ["rare.thing": OperationDefaults()])
            let claims = try await expert.claim()
            #expect(claims.map(\.id) == ["a"])
            #expect(claims.map(\.attempt) == [1])
            #expect(try await stage.status().unknownOperations == [:])
            #expect(try await stage.news() == [])
            #expect(try await expert.report(.finished, try #require(claims.first)))
        },
        ConformanceCase("a parked job can be cancelled and replaced") { stage in
            let ignorant = try await stage.session()
            try await stage.push(stage.job("a", operation: "rare"), stage.job("old", .drop, operation: "rare"))
            for claim in try await ignorant.claim() { try await ignorant.report(.parked, claim) }
            #expect(try await stage.cancel("a") == .cancelled)
            #expect(try await stage.receipt(stage.job("new", .replace)).outcome == .replaced)
            #expect(try await stage.status().unknownOperations == [:])
            #expect(try await ignorant.claimedIDs() == ["new"])
            #expect(try await stage.news() == ["cancelled a", "replaced old"])
        },
    ]
}
