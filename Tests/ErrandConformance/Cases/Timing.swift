import Errand
import Testing

extension ConformanceCase {
    static let timing = [
        ConformanceCase("a scheduled job is promoted when it is due") { fixture in
            let session = try await fixture.session()
            try await fixture.push(fixture.job("late", delay: 3_600_000))
            let soon = try await fixture.pushSoon { [try fixture.job("soon\($0)", delay: 150 * $0)] }
            let record = try #require(try await fixture.record(soon[0]))
            #expect(record.state == .scheduled)
            let first = try await fixture.broker.promote(on: fixture.queue)
            if first.promoted == 0 {
                #expect((0...15_000).contains(first.nextDue ?? -1))
                try await fixture.promote(1)
            }
            #expect(Fixture.milliseconds + 1 >= record.at ?? .max, "not before its time")
            #expect(try await session.claimedIDs() == soon)
            #expect(try await fixture.status().scheduled == 1)
        },
        ConformanceCase("promotion reports when the next job is due") { fixture in
            #expect(try await fixture.broker.promote(on: fixture.queue) == Promotion(promoted: 0, nextDue: nil))
            try await fixture.push(fixture.job("a", delay: 3_600_000))
            let next = try #require(try await fixture.broker.promote(on: fixture.queue).nextDue)
            #expect((3_500_000...3_600_000).contains(next))
            #expect(try await fixture.cancel("a") == .cancelled)
            #expect(try await fixture.broker.promote(on: fixture.queue).nextDue == nil)
        },
        ConformanceCase("due jobs are promoted in the order of their times") { fixture in
            let ids = try await fixture.pushSoon { scale in
                try [("c", 140), ("a", 100), ("b", 120)].map { name, delay in
                    try fixture.job("\(name)\(scale)", delay: delay * scale)
                }
            }
            try await fixture.promote(3)
            #expect(try await fixture.session().claimedIDs() == ids.sorted())
        },
        ConformanceCase("a call that finds nothing reports that due jobs wait") { fixture in
            let session = try await fixture.session()
            #expect(try await !session.exchange(wanted: 1).hasDueJobs)
            let ids = try await fixture.pushSoon { [try fixture.job("a\($0)", delay: 50 * $0)] }
            try await fixture.eventually("due jobs wait") { try await session.exchange(wanted: 1).hasDueJobs }
            try await fixture.promote(1)
            #expect(try await session.claimedIDs() == ids)
        },
        ConformanceCase("a job is ready since it entered its ready list") { fixture in
            let session = try await fixture.session()
            let old = try await fixture.pushSoon { [try fixture.job("old\($0)", .drop, delay: 100 * $0)] }[0]
            let due = try #require(try await fixture.record(old)?.at)
            try await fixture.promote(1)
            let since = try JobEnvelope.read(stored: try #require(try await fixture.record(old)).body).readySince
            #expect(since >= due)
            try await fixture.push(fixture.job("new", .replace))
            let claim = try await session.claimOne()
            #expect(try JobEnvelope.read(stored: claim.body).readySince == since, "the position keeps its time")
            try await session.report(.released, claim)
            let again = try await session.claimOne()
            #expect(try JobEnvelope.read(stored: again.body).readySince == since, "so does a job that comes back")
        },
        ConformanceCase("a time in the past is now") { fixture in
            let receipt = try await fixture.receipt(fixture.job("a", delay: -1000))
            #expect(receipt.outcome == .accepted)
            #expect(try await fixture.session().claimedIDs() == ["a"])
        },
    ]
}
