import Errand
import Testing

extension ConformanceCase {
    static let naming = [
        ConformanceCase("a batch is decided in its order") { stage in
            let receipts = try await stage.push(
                stage.job("a", .drop),
                stage.job("b", .drop),
                stage.job("c", .replace),
                stage.job("a", .drop),
                stage.job("c", .drop),
                stage.job("d", .replace)
            )
            #expect(receipts.map(\.outcome) == [.accepted, .dropped, .replaced, .exists, .exists, .replaced])
            #expect(receipts.map(\.id) == ["a", "a", "c", "a", "c", "d"])
            #expect(try await stage.news() == ["dropped b", "replaced a", "replaced c"])
            #expect(try await stage.session().claimedIDs() == ["d"])
        },
        ConformanceCase("a name is free again when its holder has finished") { stage in
            let (hand, claim) = try await stage.claimedHolder()
            #expect(try await stage.receipt(stage.job("b", .drop)).outcome == .dropped)
            try await hand.report(.finished, claim)
            #expect(try await stage.receipt(stage.job("c", .drop)).outcome == .accepted)
        },
        ConformanceCase("a name is free again when its holder is dead") { stage in
            let (hand, claim) = try await stage.claimedHolder()
            try await hand.report(.failed, claim)
            #expect(try await stage.receipt(stage.job("b", .drop)).outcome == .accepted)
        },
        ConformanceCase("names are compared byte by byte") { stage in
            // The same letter, once composed and once as a letter with a combining accent.
            try await stage.push(stage.job("a", .drop, name: "caf\u{E9}"))
            #expect(try await stage.receipt(stage.job("b", .drop, name: "cafe\u{301}")).outcome == .accepted)
            #expect(try await stage.receipt(stage.job("c", .drop, name: "caf\u{E9}")).outcome == .dropped)
        },
        ConformanceCase("a replacement of the same priority takes the place in line") { stage in
            try await stage.push(stage.job("a"), stage.job("old", .drop), stage.job("b"))
            try await stage.push(stage.job("c"), stage.job("new", .replace))
            try await stage.push(stage.job("newer", .replace))
            #expect(try await stage.session().claimedIDs() == ["a", "newer", "b", "c"])
        },
        ConformanceCase("a replacement of another priority goes to the end of its own line") { stage in
            try await stage.push(stage.job("old", .drop), stage.job("a"), stage.job("b", priority: 9))
            try await stage.push(stage.job("new", .replace, priority: 9))
            #expect(try await stage.session().claimedIDs() == ["b", "new", "a"])
        },
        ConformanceCase("a replacement that is due later leaves the line") { stage in
            try await stage.push(stage.job("old", .drop))
            try await stage.push(stage.job("new", .replace, delay: 3_600_000))
            #expect(try await stage.state("new") == .scheduled)
            #expect(try await stage.session().claimedIDs() == [])
        },
        ConformanceCase("a replacement that is due now does not wait because the old one did") { stage in
            try await stage.push(stage.job("old", .drop, delay: 3_600_000))
            try await stage.push(stage.job("new", .replace))
            #expect(try await stage.status().scheduled == 0)
            #expect(try await stage.session().claimedIDs() == ["new"])
        },
        ConformanceCase("a replacement keeps its own later time") { stage in
            try await stage.push(stage.job("old", .drop, delay: 3_600_000))
            let new = try await stage.pushSoon { [try stage.job("new\($0)", .replace, delay: 100 * $0)] }
            #expect(try await stage.state("old") == .replaced)
            try await stage.promote(1)
            #expect(try await stage.session().claimedIDs() == new)
        },
        ConformanceCase("a replacement of a retrying job starts its attempts anew") { stage in
            try await stage.makeHolder(.retrying)
            try await stage.push(stage.job("new", .replace))
            #expect(try await stage.session().claimOne().attempt == 1)
        },
        ConformanceCase("of a storm of replacements the last one runs") { stage in
            let (hand, claim) = try await stage.claimedHolder()
            for number in 1...20 {
                #expect(try await stage.receipt(stage.job("n\(number)", .replace)).outcome == .deferred)
            }
            try await hand.report(.cancelled, claim)
            #expect(try await hand.claimedIDs() == ["n20"])
            #expect(try await stage.total("replaced") == 20)
            #expect(try await stage.status().deferred == 0)
        },
        ConformanceCase("a successor that is cancelled leaves the holder alone") { stage in
            let (hand, claim) = try await stage.claimedHolder()
            try await stage.push(stage.job("next", .replace))
            #expect(try await stage.cancel("next") == .cancelled)
            #expect(try await hand.report(.failed, claim, retryDelay: 0))
            #expect(try await stage.news() == ["cancelled next", "failed old", "retrying old"])
            try await stage.promote(1)
            #expect(try await hand.claimOne().id == "old")
            #expect(try await hand.beat().stops == [], "the next run was not told to stop")
        },
    ]
}
