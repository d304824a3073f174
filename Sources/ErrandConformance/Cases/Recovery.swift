import Errand
import Testing

extension ConformanceCase {
    static let recovery = [
        ConformanceCase("what a dead session held goes to the head in its order") { stage in
            let (doomed, live) = (try await stage.doomed(), try await stage.session())
            try await stage.push(
                stage.job("b", timeout: .seconds(7)),
                stage.job("a", timeout: .seconds(99)),
                stage.job("c"),
                stage.job("d")
            )
            _ = try await doomed.claim(2, free: 2)
            _ = try await doomed.claim(1)
            try await stage.recover(3)
            let claims = try await live.claim()
            #expect(claims.map(\.id) == ["b", "a", "c", "d"])
            #expect(claims.map(\.attempt) == [1, 1, 1, 1])
            #expect(claims.map(\.crashes) == [1, 1, 1, 0])
            #expect(try await stage.news().sorted() == ["recovered a", "recovered b", "recovered c"])
            #expect(try await stage.total("recovered") == 3)
            #expect(try await stage.broker.status(of: stage.queue).sessions.map(\.id) == [live.id])
        },
        ConformanceCase("a crash counts only for claims that had begun") { stage in
            let (doomed, live) = (try await stage.doomed(), try await stage.session())
            try await stage.pushPlain("a", "b")
            _ = try await doomed.claim(1, free: 1)
            _ = try await doomed.claim(1, free: 0)
            try await stage.recover(2)
            let claims = try await live.claim()
            #expect(claims.map(\.id) == ["a", "b"])
            #expect(claims.map(\.crashes) == [1, 0])
        },
        ConformanceCase("what comes back again counts, though nobody said that it had begun") { stage in
            try await stage.pushPlain("hasty")
            for crashes in [0, 1, 2, 3] {
                _ = try await stage.doomed().claimOne(free: 0)
                try await stage.recover(1)
                #expect(try await stage.record("hasty")?.crashes == crashes)
            }
            try await stage.pushPlain("innocent")
            let live = try await stage.session()
            let alone = try await live.claimOne()
            #expect(alone.id == "hasty", "it is served alone")
            try await live.report(.failed, alone)
            #expect(try await stage.revive("hasty") == .revived)
            #expect(try await live.claim(1).map(\.id) == ["innocent"])
            _ = try await stage.doomed().claimOne(free: 0)
            try await stage.recover(1)
            #expect(try await stage.record("hasty")?.crashes == 0, "a revived job starts anew")
        },
        ConformanceCase("a session that was recovered is lost, and its finish changes nothing") { stage in
            let (doomed, live) = (try await stage.doomed(), try await stage.session())
            try await stage.pushPlain("a")
            let claim = try await doomed.claimOne()
            try await stage.recover(1)
            await #expect { try await doomed.report(.finished, claim) } throws: {
                ($0 as? BrokerError)?.code == .sessionLost
            }
            await #expect { try await doomed.beat() } throws: { ($0 as? BrokerError)?.code == .sessionLost }
            #expect(try await live.claimedIDs() == ["a"])
            #expect(try await stage.news() == ["recovered a"])
        },
        ConformanceCase("a lease that ran out is given up only by recovery") { stage in
            let (doomed, live) = (try await stage.doomed(), try await stage.session())
            try await stage.pushPlain("a")
            let claim = try await doomed.claimOne()
            try await Task.sleep(for: .milliseconds(150))
            #expect(try await live.claimedIDs() == [])
            #expect(try await doomed.report(.finished, claim))
            #expect(try await stage.news() == ["finished a"])
        },
        ConformanceCase("nobody is robbed after a time in which nobody could beat") { stage in
            try await stage.playGrace(tries: 10)
        },
        ConformanceCase("nothing is taken back while every lease lives") { stage in
            let hand = try await stage.session()
            try await stage.pushPlain("a")
            _ = try await hand.claimOne()
            #expect(try await stage.broker.recover(on: stage.queue) == Recovery(recovered: 0, hasMore: false))
            #expect(try await stage.state("a") == .running)
        },
        ConformanceCase("a run past its hard deadline times out and is tried again while retries last") { stage in
            let hand = try await stage.session(operations: [Stage.operation: OperationDefaults(retries: 1)])
            try await stage.push(stage.job("a", timeout: .milliseconds(1)))
            let claim = try await hand.claimOne(wait: .zero)
            try await stage.recover(1)
            let record = try #require(try await stage.record("a"))
            #expect(record.state == .retrying)
            #expect(record.failures == 1)
            let wait = try #require(record.at) - Stage.milliseconds
            #expect((13_000...16_000).contains(wait), "the default delay: \(wait) ms")
            #expect(try await !hand.report(.finished, claim), "its claim is gone")
            #expect(try await stage.broker.revive(["a"], on: stage.queue) == [.hurried])
            let second = try await hand.claimOne(wait: .zero)
            #expect(second.attempt == 2)
            try await stage.recover(1)
            #expect(try await stage.state("a") == .dead)
            #expect(try await stage.news() == ["timed_out a", "retrying a", "timed_out a", "dead a"])
            #expect(try await stage.total("timed_out") == 2)
            #expect(try await stage.broker.status(of: stage.queue).sessions.count == 1, "its session lives")
        },
        ConformanceCase("recovery that comes first after an outage robs nobody, once") { stage in
            let hand = try await stage.session(lease: .milliseconds(300))
            try await stage.pushPlain("a")
            _ = try await hand.claimOne()
            // Nobody beats for more than a lease, as when the broker was away.
            try await Task.sleep(for: .milliseconds(400))
            #expect(try await stage.broker.recover(on: stage.queue).recovered == 0)
            #expect(try await stage.state("a") == .running)
            try await stage.recover(1)
        },
        ConformanceCase("the lease of a session that has left does not count") { stage in
            let slow = try await stage.session(lease: .seconds(60))
            let hand = try await stage.session(lease: .milliseconds(300))
            try await stage.pushPlain("a")
            _ = try await hand.claimOne()
            try await slow.release()
            try await Task.sleep(for: .milliseconds(400))
            #expect(try await stage.broker.recover(on: stage.queue).recovered == 0, "nobody could beat for a lease")
            #expect(try await stage.state("a") == .running)
            try await stage.recover(1)
        },
        ConformanceCase("a hard deadline is the wait, the timeout and the grace") { stage in
            let hand = try await stage.session(operations: [
                Stage.operation: OperationDefaults(timeout: .milliseconds(1), retries: 0)
            ])
            try await stage.pushPlain("usual")
            _ = try await hand.claimOne(wait: .seconds(60))
            try await stage.push(stage.job("long", timeout: .seconds(60)), stage.job("short"))
            _ = try await hand.claim(2, wait: .zero)
            try await stage.recover(1)
            #expect(try await stage.state("short") == .dead)
            #expect(try await stage.state("long") == .running)
            #expect(try await stage.state("usual") == .running)
        },
    ]
}

extension Stage {
    /// A session whose lease ran out while nobody beat keeps its claim when another one comes. The check has to be made
    /// within a lease; a machine that is too slow for that tries again.
    fileprivate func playGrace(tries: Int) async throws {
        let lease = Duration.milliseconds(500)
        for number in 1...tries {
            let first = try await session(lease: lease)
            try await pushPlain("j\(number)")
            let claim = try await first.claimOne()
            try await Task.sleep(for: lease + .milliseconds(100))
            let start = ContinuousClock.now
            let second = try await session(lease: lease)
            let recovered = try await broker.recover(on: queue)
            let inTime = ContinuousClock.now - start < lease - .milliseconds(50)
            let counted = inTime ? try await first.report(.finished, claim) : false
            if inTime {
                #expect(recovered == Recovery(recovered: 0, hasMore: false))
                #expect(counted)
                return
            }
            try await first.release()
            try await second.release()
        }
        Issue.record("the machine was too slow to make the check in time")
    }
}
