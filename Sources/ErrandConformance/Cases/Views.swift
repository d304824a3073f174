import Errand
import Testing

extension ConformanceCase {
    static let views = [
        ConformanceCase("a queue nobody used is empty") { stage in
            try await stage.broker.deleteQueue(stage.queue, force: false)
            let (status, sessions) = try await stage.broker.status(of: stage.queue)
            #expect(status.totals.counts.values.allSatisfy { $0 == 0 })
            #expect([status.ready, status.scheduled, status.running, status.retrying, status.dead] == [0, 0, 0, 0, 0])
            #expect(status.oldestReadyMilliseconds == 0)
            #expect(!status.isPaused)
            #expect(sessions == [])
            #expect(try await !stage.broker.queues().contains(stage.queue))
            try await stage.pushPlain("a")
            #expect(try await stage.broker.queues().contains(stage.queue))
        },
        ConformanceCase("status counts every state and every transition") { stage in
            let hand = try await stage.session(operations: ["work": .init(), "a.thing": .init()], pid: 77)
            try await stage.pushPlain("finished", "dead", "retrying", "running")
            let claims = try await hand.claim()
            try await hand.report(.finished, claims[0])
            try await hand.report(.failed, claims[1])
            try await hand.report(.timedOut, claims[2], retryDelay: 3_600_000)
            try await stage.push(stage.job("one", .drop), stage.job("two", .replace), stage.job("three", .drop))
            try await stage.push(stage.job("scheduled", delay: 3_600_000), stage.job("cancelled"))
            _ = try await stage.cancel("cancelled")

            let (status, sessions) = try await stage.broker.status(of: stage.queue)
            #expect(status.name == stage.queue)
            #expect([status.ready, status.scheduled, status.running] == [1, 1, 1])
            #expect([status.retrying, status.dead, status.deferred] == [1, 1, 0])
            #expect((0...60_000).contains(status.oldestReadyMilliseconds))
            let expected = [
                "pushed": 8, "dropped": 1, "replaced": 1, "finished": 1, "failed": 1, "timed_out": 1, "cancelled": 1,
                "retried": 1, "recovered": 0, "released": 0, "dead": 1, "dead_trimmed": 0,
            ]
            for name in QueueStatus.Totals.names { #expect(status.totals[name] == expected[name], "total \(name)") }
            let session = try #require(sessions.first)
            #expect(sessions.count == 1)
            #expect([session.pid, session.running, session.concurrency] == [77, 1, 3])
            #expect([session.id, session.host] == [hand.id, "host"])
            #expect(session.operations == ["a.thing", "work"])
            #expect((0...60_000).contains(session.lastBeatMilliseconds))
        },
        ConformanceCase("the age of the oldest job in line grows") { stage in
            try await stage.pushPlain("a")
            try await stage.eventually("a is 20 ms old") { try await stage.status().oldestReadyMilliseconds >= 20 }
            #expect(try await stage.cancel("a") == .cancelled)
            #expect(try await stage.status().oldestReadyMilliseconds == 0)
        },
        ConformanceCase("what was cancelled in a long line is neither counted nor listed") { stage in
            let all = (0..<2500).map { "j\($0 + 10_000)" }
            for first in stride(from: 0, to: 2500, by: 500) {
                _ = try await stage.broker.push(try all[first..<first + 500].map { try stage.job($0) }, to: stage.queue)
            }
            let cancelled = Array(all[500..<1600])
            for first in stride(from: 0, to: 1100, by: 100) {
                let verdicts = try await stage.broker.cancel(Array(cancelled[first..<first + 100]), on: stage.queue)
                #expect(verdicts.allSatisfy { $0 == .cancelled })
            }
            #expect(try await stage.status().ready == 1400)
            #expect(try await stage.ids(in: .ready, count: 500) == Array(all[..<500]) + Array(all[1600...]))
        },
        ConformanceCase("inspect answers in the order of the ids, nothing for unknown ones") { stage in
            try await stage.pushPlain("a", "b")
            let hand = try await stage.session()
            _ = try await hand.claimOne()
            let records = try await stage.broker.inspect(["b", "never", "a"], on: stage.queue)
            #expect(records.map { $0?.id } == ["b", nil, "a"])
            #expect(records.map { $0?.state } == [.ready, nil, .running])
            #expect(records.last??.session == hand.id)
            #expect(records.first??.body.isEmpty == false)
            #expect(try await stage.broker.inspect([], on: stage.queue) == [])
        },
        ConformanceCase("jobs of a state come in pages") { stage in
            let hand = try await stage.session()
            let all = (0..<25).map { "j\($0 + 10)" }
            _ = try await stage.broker.push(try all.map { try stage.job($0) }, to: stage.queue)
            #expect(try await stage.pages(of: .ready) == [10, 10, 5])
            #expect(try await stage.ids(in: .ready) == all)
            var claims = try await hand.claim(25)
            #expect(try await stage.pages(of: .running) == [10, 10, 5])
            #expect(try await stage.ids(in: .running).sorted() == all)
            for claim in claims { try await hand.report(.failed, claim, retryDelay: 0) }
            #expect(try await stage.pages(of: .retrying) == [10, 10, 5])
            try await stage.promote(25)
            claims = try await hand.claim(25)
            for claim in claims { try await hand.report(.failed, claim) }
            #expect(try await stage.pages(of: .dead) == [10, 10, 5])
            _ = try await stage.broker.revive(all, on: stage.queue)
            claims = try await hand.claim(25)
            for claim in claims { try await hand.report(.finished, claim, result: "r") }
            #expect(try await stage.ids(in: .finished).sorted() == all)
            #expect(try await stage.ids(in: .finished).first == claims.last?.id, "the newest first")
            #expect(try await stage.ids(in: .ready) == [])
        },
        ConformanceCase("large jobs come in small pages") { stage in
            let all = (0..<20).map { "j\($0 + 10)" }
            for first in stride(from: 0, to: 20, by: 5) {
                let jobs = try all[first..<first + 5].map { id in
                    try OperationDescription(
                        Stage.operation,
                        encoding: ["text": String(repeating: "x", count: 130_000)],
                        queue: stage.queue,
                        id: id
                    ).settled()
                }
                _ = try await stage.broker.push(jobs, to: stage.queue)
            }
            #expect(try await stage.pages(of: .ready, count: 500) == [8, 8, 4])
            #expect(try await stage.ids(in: .ready, count: 500) == all)
            #expect(try await stage.broker.inspect(all, on: stage.queue).map { $0?.id } == all)
        },
        ConformanceCase("scheduled, deferred and cancelled jobs can be listed") { stage in
            _ = try await stage.claimedHolder()
            try await stage.push(stage.job("next", .replace))
            try await stage.push(stage.job("b", delay: 7_200_000), stage.job("a", delay: 3_600_000), stage.job("c"))
            _ = try await stage.cancel("c")
            #expect(try await stage.ids(in: .deferred) == ["next"])
            #expect(try await stage.ids(in: .scheduled) == ["a", "b"])
            #expect(try await stage.ids(in: .cancelled) == ["c"])
            #expect(try await stage.ids(in: .running) == ["old"])
        },
    ]
}

extension Stage {
    /// How many jobs each page of at most `count` holds.
    fileprivate func pages(of state: JobState, count: Int = 10) async throws -> [Int] {
        var (counts, cursor): ([Int], Int?) = ([], 0)
        while let from = cursor {
            let page = try await broker.jobs(in: state, on: queue, from: from, count: count)
            counts.append(page.jobs.count)
            #expect(page.positions == Array(from..<from + page.jobs.count))
            #expect(page.jobs.allSatisfy { $0.state == state })
            cursor = page.next
        }
        return counts
    }

    fileprivate func ids(in state: JobState, count: Int = 10) async throws -> [String] {
        var (ids, cursor): ([String], Int?) = ([], 0)
        while let from = cursor {
            let page = try await broker.jobs(in: state, on: queue, from: from, count: count)
            ids += page.jobs.map(\.id)
            cursor = page.next
        }
        return ids
    }
}
