import Errand
import Testing

extension ConformanceCase {
    static let naming = [
        ConformanceCase("the jobs of a batch are accepted in order") { fixture in
            let receipts = try await fixture.push(
                fixture.job("a", .drop),
                fixture.job("b", .drop),
                fixture.job("c", .replace),
                fixture.job("a", .drop),
                fixture.job("c", .drop),
                fixture.job("d", .replace)
            )
            #expect(receipts.map(\.outcome) == [.accepted, .dropped, .replaced, .exists, .exists, .replaced])
            #expect(receipts.map(\.id) == ["a", "a", "c", "a", "c", "d"])
            #expect(try await fixture.news() == ["dropped b", "replaced a", "replaced c"])
            #expect(try await fixture.session().claimedIDs() == ["d"])
        },
        ConformanceCase("a name is free again when its holder has finished") { fixture in
            let (session, claim) = try await fixture.claimedHolder()
            #expect(try await fixture.receipt(fixture.job("b", .drop)).outcome == .dropped)
            try await session.report(.finished, claim)
            #expect(try await fixture.receipt(fixture.job("c", .drop)).outcome == .accepted)
        },
        ConformanceCase("a name is free again when its holder is dead") { fixture in
            let (session, claim) = try await fixture.claimedHolder()
            try await session.report(.failed, claim)
            #expect(try await fixture.receipt(fixture.job("b", .drop)).outcome == .accepted)
        },
        ConformanceCase("names are compared byte by byte") { fixture in
            // The same letter, first composed, then as a letter with a combining accent.
            try await fixture.push(fixture.job("a", .drop, name: "caf\u{E9}"))
            #expect(try await fixture.receipt(fixture.job("b", .drop, name: "cafe\u{301}")).outcome == .accepted)
            #expect(try await fixture.receipt(fixture.job("c", .drop, name: "caf\u{E9}")).outcome == .dropped)
        },
        ConformanceCase("a replacement with the same priority takes the position") { fixture in
            try await fixture.push(fixture.job("a"), fixture.job("old", .drop), fixture.job("b"))
            try await fixture.push(fixture.job("c"), fixture.job("new", .replace))
            try await fixture.push(fixture.job("newer", .replace))
            #expect(try await fixture.session().claimedIDs() == ["a", "newer", "b", "c"])
        },
        ConformanceCase("replacements of one name in one call take the position one after the other") { fixture in
            try await fixture.push(fixture.job("a"), fixture.job("old", .drop), fixture.job("b"))
            try await fixture.push(fixture.job("c"), fixture.job("new", .replace), fixture.job("newer", .replace))
            try await fixture.push(fixture.job("third", .replace), fixture.job("d"), fixture.job("last", .replace))
            for id in ["old", "new", "newer", "third"] { #expect(try await fixture.state(id) == .replaced) }
            #expect(try await fixture.session().claimedIDs() == ["a", "last", "b", "c", "d"])
        },
        ConformanceCase("a replacement with another priority goes to the end of its own ready list") { fixture in
            try await fixture.push(fixture.job("old", .drop), fixture.job("a"), fixture.job("b", priority: 9))
            try await fixture.push(fixture.job("new", .replace, priority: 9))
            #expect(try await fixture.session().claimedIDs() == ["b", "new", "a"])
        },
        ConformanceCase("a replacement that is due later leaves the ready list") { fixture in
            try await fixture.push(fixture.job("old", .drop))
            try await fixture.push(fixture.job("new", .replace, delay: 3_600_000))
            #expect(try await fixture.state("new") == .scheduled)
            #expect(try await fixture.session().claimedIDs() == [])
        },
        ConformanceCase("a replacement that is due now is ready even if the old job was scheduled") { fixture in
            try await fixture.push(fixture.job("old", .drop, delay: 3_600_000))
            try await fixture.push(fixture.job("new", .replace))
            #expect(try await fixture.status().scheduled == 0)
            #expect(try await fixture.session().claimedIDs() == ["new"])
        },
        ConformanceCase("a replacement keeps its own later time") { fixture in
            try await fixture.push(fixture.job("old", .drop, delay: 3_600_000))
            let new = try await fixture.pushSoon { [try fixture.job("new\($0)", .replace, delay: 100 * $0)] }
            #expect(try await fixture.state("old") == .replaced)
            try await fixture.promote(1)
            #expect(try await fixture.session().claimedIDs() == new)
        },
        ConformanceCase("a replacement of a retrying job starts its attempts again") { fixture in
            try await fixture.makeHolder(.retrying)
            try await fixture.push(fixture.job("new", .replace))
            #expect(try await fixture.session().claimOne().attempt == 1)
        },
        ConformanceCase("of a storm of replacements the last one runs") { fixture in
            let (session, claim) = try await fixture.claimedHolder()
            for number in 1...20 {
                #expect(try await fixture.receipt(fixture.job("n\(number)", .replace)).outcome == .deferred)
            }
            try await session.report(.cancelled, claim)
            #expect(try await session.claimedIDs() == ["n20"])
            #expect(try await fixture.total("replaced") == 20)
            #expect(try await fixture.status().deferred == 0)
        },
        ConformanceCase("cancelling a successor leaves the holder running") { fixture in
            let (session, claim) = try await fixture.claimedHolder()
            try await fixture.push(fixture.job("next", .replace))
            #expect(try await fixture.cancel("next") == .cancelled)
            #expect(try await session.report(.failed, claim, retryDelay: 0))
            #expect(try await fixture.news() == ["cancelled next", "failed old", "retrying old"])
            try await fixture.promote(1)
            #expect(try await session.claimOne().id == "old")
            #expect(try await session.beat().stops == [], "the next run was not told to stop")
        },
    ]
}
