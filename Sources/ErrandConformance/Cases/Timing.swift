import Errand
import Testing

extension ConformanceCase {
    static let timing = [
        ConformanceCase("a job that is due later is promoted when its time has come") { stage in
            let hand = try await stage.session()
            try await stage.push(stage.job("late", delay: 3_600_000), stage.job("soon", delay: 150))
            let record = try #require(try await stage.record("soon"))
            #expect(record.state == .scheduled)
            let first = try await stage.broker.promote(on: stage.queue)
            if first.promoted == 0 {
                #expect((0...150).contains(first.nextDue ?? -1))
                try await stage.promote(1)
            }
            #expect(Stage.milliseconds + 1 >= record.at ?? .max, "not before its time")
            #expect(try await hand.claimedIDs() == ["soon"])
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
            try await stage.push(
                stage.job("c", delay: 60),
                stage.job("a", delay: 20),
                stage.job("b", delay: 40)
            )
            try await Task.sleep(for: .milliseconds(100))
            try await stage.promote(3)
            #expect(try await stage.session().claimedIDs() == ["a", "b", "c"])
        },
        ConformanceCase("a session that finds nothing is told that due jobs wait") { stage in
            let hand = try await stage.session()
            #expect(try await !hand.exchange(wanted: 1).hasDueJobs)
            try await stage.push(stage.job("a", delay: 30))
            try await stage.eventually("due jobs wait") { try await hand.exchange(wanted: 1).hasDueJobs }
            try await stage.promote(1)
            #expect(try await hand.claimedIDs() == ["a"])
        },
        ConformanceCase("a time that is over is now") { stage in
            let receipt = try await stage.receipt(stage.job("a", delay: -1000))
            #expect(receipt.outcome == .accepted)
            #expect(try await stage.session().claimedIDs() == ["a"])
        },
    ]
}
