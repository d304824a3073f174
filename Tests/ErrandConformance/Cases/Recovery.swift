import Errand
import Testing

extension ConformanceCase {
    static let recovery = [
        ConformanceCase("the jobs of a dead session return to the head in order") { fixture in
            let (doomed, live) = (try await fixture.doomed(), try await fixture.session())
            try await fixture.push(
                fixture.job("b", timeout: .seconds(7)),
                fixture.job("a", timeout: .seconds(99)),
                fixture.job("c"),
                fixture.job("d")
            )
            _ = try await doomed.claim(2, free: 2)
            _ = try await doomed.claim(1)
            try await fixture.recover(3)
            let claims = try await live.claim()
            #expect(claims.map(\.id) == ["b", "a", "c", "d"])
            #expect(claims.map(\.attempt) == [1, 1, 1, 1])
            #expect(claims.map(\.crashes) == [1, 1, 1, 0])
            #expect(try await fixture.news().sorted() == ["recovered a", "recovered b", "recovered c"])
            #expect(try await fixture.total("recovered") == 3)
            #expect(try await fixture.broker.status(of: fixture.queue).sessions.map(\.id) == [live.id])
        },
        ConformanceCase("recovery returns the events of the jobs that continue, with their lost session") { fixture in
            let (doomed, live) = (try await fixture.doomed(), try await fixture.session())
            try await fixture.pushPlain("a", "b", "c")
            _ = try await doomed.claim(3, free: 3)
            #expect(try await fixture.cancel("b") == .stopping)
            var events: [JobEvent] = []
            try await fixture.eventually("three jobs recovered") {
                events += try await fixture.broker.recover(on: fixture.queue).events
                return try await fixture.status().running == 0
            }
            #expect(events.map(\.id) == ["c", "a"], "from the newest to the oldest; the other was cancelled")
            #expect(events.allSatisfy { $0.kind == .recovered && $0.worker == doomed.id })
            #expect(events.allSatisfy { $0.operation == Fixture.operation && $0.attempt == 1 })
            #expect(try await live.claimedIDs() == ["a", "c"])
        },
        ConformanceCase("a crash counts only for claims whose jobs had begun") { fixture in
            let (doomed, live) = (try await fixture.doomed(), try await fixture.session())
            try await fixture.pushPlain("a", "b")
            _ = try await doomed.claim(1, free: 1)
            _ = try await doomed.claim(1, free: 0)
            try await fixture.recover(2)
            let claims = try await live.claim()
            #expect(claims.map(\.id) == ["a", "b"])
            #expect(claims.map(\.crashes) == [1, 0])
        },
        ConformanceCase("a second recovery counts as a crash even if the job had not begun") { fixture in
            // The longest lease decides how long a silence is an outage, after which nothing is recovered for a lease.
            let live = try await fixture.session()
            try await fixture.pushPlain("hasty")
            for crashes in [0, 1, 2, 3] {
                _ = try await fixture.doomed().claimOne(free: 0)
                try await fixture.recover(1)
                #expect(try await fixture.record("hasty")?.crashes == crashes)
            }
            try await fixture.pushPlain("innocent")
            let alone = try await live.claimOne()
            #expect(alone.id == "hasty", "it is served alone")
            try await live.report(.failed, alone)
            #expect(try await fixture.retry("hasty") == .retried)
            #expect(try await live.claim(1).map(\.id) == ["innocent"])
            _ = try await fixture.doomed().claimOne(free: 0)
            try await fixture.recover(1)
            #expect(try await fixture.record("hasty")?.crashes == 0, "a retried job starts again")
        },
        ConformanceCase("a session that was recovered is lost, and its finish changes nothing") { fixture in
            let (doomed, live) = (try await fixture.doomed(), try await fixture.session())
            try await fixture.pushPlain("a")
            let claim = try await doomed.claimOne()
            try await fixture.recover(1)
            await #expect { try await doomed.report(.finished, claim) } throws: {
                ($0 as? BrokerError)?.code == .sessionLost
            }
            await #expect { try await doomed.beat() } throws: { ($0 as? BrokerError)?.code == .sessionLost }
            #expect(try await live.claimedIDs() == ["a"])
            #expect(try await fixture.news() == ["recovered a"])
        },
        ConformanceCase("an expired lease ends only by recovery") { fixture in
            let (doomed, live) = (try await fixture.doomed(), try await fixture.session())
            try await fixture.pushPlain("a")
            let claim = try await doomed.claimOne()
            try await Task.sleep(for: .milliseconds(150))
            #expect(try await live.claimedIDs() == [])
            #expect(try await doomed.report(.finished, claim))
            #expect(try await fixture.news() == ["finished a"])
        },
        ConformanceCase("no session loses jobs after a time in which none could send heartbeats") { fixture in
            try await fixture.playGrace(tries: 10)
        },
        ConformanceCase("nothing is recovered while every lease is live") { fixture in
            let session = try await fixture.session()
            try await fixture.pushPlain("a")
            _ = try await session.claimOne()
            #expect(try await fixture.broker.recover(on: fixture.queue) == Recovery(recovered: 0, hasMore: false))
            #expect(try await fixture.state("a") == .running)
        },
        ConformanceCase("a run past its hard deadline times out and is retried while retries are left") { fixture in
            let session = try await fixture.session(operations: [Fixture.operation: OperationDefaults(retries: 1)])
            try await fixture.push(fixture.job("a", timeout: .milliseconds(1)))
            let claim = try await session.claimOne(wait: .zero)
            try await fixture.recover(1)
            let record = try #require(try await fixture.record("a"))
            #expect(record.state == .retrying)
            #expect(record.failures == 1)
            let wait = try #require(record.at) - Fixture.milliseconds
            #expect((13_000...16_000).contains(wait), "the default delay: \(wait) ms")
            #expect(try await !session.report(.finished, claim), "its claim is gone")
            #expect(try await fixture.broker.retry(["a"], on: fixture.queue) == [.hurried])
            let second = try await session.claimOne(wait: .zero)
            #expect(second.attempt == 2)
            try await fixture.recover(1)
            #expect(try await fixture.state("a") == .dead)
            #expect(try await fixture.news() == ["timed_out a", "retrying a", "timed_out a", "dead a"])
            #expect(try await fixture.total("timed_out") == 2)
            #expect(try await fixture.broker.status(of: fixture.queue).sessions.count == 1, "its session lives")
        },
        ConformanceCase("the first recovery after an outage takes no jobs from live workers") { fixture in
            let session = try await fixture.session(lease: .milliseconds(300))
            try await fixture.pushPlain("a")
            _ = try await session.claimOne()
            // No heartbeat for more than a lease, as if the broker had been unreachable.
            try await Task.sleep(for: .milliseconds(400))
            #expect(try await fixture.broker.recover(on: fixture.queue).recovered == 0)
            #expect(try await fixture.state("a") == .running)
            try await fixture.recover(1)
        },
        ConformanceCase("the lease of a session that has left does not count") { fixture in
            let slow = try await fixture.session(lease: .seconds(60))
            let session = try await fixture.session(lease: .milliseconds(300))
            try await fixture.pushPlain("a")
            _ = try await session.claimOne()
            try await slow.release()
            try await Task.sleep(for: .milliseconds(400))
            #expect(
                try await fixture.broker.recover(on: fixture.queue).recovered == 0,
                "no session could send heartbeats for a lease"
            )
            #expect(try await fixture.state("a") == .running)
            try await fixture.recover(1)
        },
        ConformanceCase("a hard deadline is wait, timeout and grace") { fixture in
            let session = try await fixture.session(operations: [
                Fixture.operation: OperationDefaults(timeout: .milliseconds(1), retries: 0)
            ])
            try await fixture.pushPlain("usual")
            _ = try await session.claimOne(wait: .seconds(60))
            try await fixture.push(fixture.job("long", timeout: .seconds(60)), fixture.job("short"))
            _ = try await session.claim(2, wait: .zero)
            try await fixture.recover(1)
            #expect(try await fixture.state("short") == .dead)
            #expect(try await fixture.state("long") == .running)
            #expect(try await fixture.state("usual") == .running)
        },
    ]
}

extension Fixture {
    /// Checks that a session whose lease ended while there was no heartbeat at all keeps its claim when another one
    /// registers. The check must take less than a lease, so a slow machine tries again.
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
