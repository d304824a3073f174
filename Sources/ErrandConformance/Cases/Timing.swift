import Errand
import Testing

extension ConformanceCase {
    static let timing = [
        ConformanceCase("a job that is due later is promoted when its time has come") { stage in
            let hand = try await stage.session()
            try await stage.push(stage.job("late", delay: 3_600_000))
            let soon = try await stage.pushSoon { [try stage.job("soon\($0)", delay: 150 * $0)] }
            let record = try #require(try await stage.record(soon[0]))
            #expect(record.state == .scheduled)
            let first = try await stage.broker.promote(on: stage.queue)
            if first.promoted == 0 {
                #expect((0...15_000).contains(first.nextDue ?? -1))
                try await stage.promote(1)
            }
            #expect(Stage.milliseconds + 1 >= record.at ?? .max, "not before its time")
            #expect(try await hand.claimedIDs() == soon)
            #expect(try await stage.status().scheduled == 1)
        },
        ConformanceCase("promotion says when the next job is due") { stage in
            #expect(try await stage.broker.promote(on: stage.queue) == Promotion(promoted: 0, nextDue: nil))
            try await stage.push(stage.job("a", delay: 3_600_000))
            let next = try #require(try await stage.broker.promote(on: stage.queue).nextDue)
            #expect((3_500_000...3_600_000).contains(next))
            #expect(try await stage.cancel("a") == .cancelled)
            #expect(try await stage.broker.promote(on: stage.queue).nextDue == nil)
        },
        ConformanceCase("due jobs are promoted in the order of their times") { stage in
            let ids = try await stage.pushSoon { scale in
                try [("c", 140), ("a", 100), ("b", 120)].map { name, delay in
                    try stage.job("\(name)\(scale)", delay: delay * scale)
                }
            }
            try await stage.promote(3)
            #expect(try await stage.session().claimedIDs() == ids.sorted())
        },
        ConformanceCase("a session that finds nothing is told that due jobs wait") { stage in
            let hand = try await stage.session()
            #expect(try await !hand.exchange(wanted: 1).hasDueJobs)
            let ids = try await stage.pushSoon { [try stage.job("a\($0)", delay: 50 * $0)] }
            try await stage.eventually("due jobs wait") { try await hand.exchange(wanted: 1).hasDueJobs }
            try await stage.promote(1)
            #expect(try await hand.claimedIDs() == ids)
        },
        ConformanceCase("a job is ready since it came into its line") { stage in
            let hand = try await stage.session()
            let old = try await stage.pushSoon { [try stage.job("old\($0)", .drop, delay: 100 * $0)] }[0]
            let due = try #require(try await stage.record(old)?.at)
            try await stage.promote(1)
            let since = try JobEnvelope.read(stored: try #require(try await stage.record(old)).body).readySince
            #expect(since >= due)
            try await stage.push(stage.job("new", .replace))
            let claim = try await hand.claimOne()
            #expect(try JobEnvelope.read(stored: claim.body).readySince == since, "the place in line keeps its time")
            try await hand.report(.released, claim)
            let again = try await hand.claimOne()
            #expect(try JobEnvelope.read(stored: again.body).readySince == since, "so does a job that comes back")
        },
        ConformanceCase("a time that is over is now") { stage in
            let receipt = try await stage.receipt(stage.job("a", delay: -1000))
            #expect(receipt.outcome == .accepted)
            #expect(try await stage.session().claimedIDs() == ["a"])
        },
    ]
}
