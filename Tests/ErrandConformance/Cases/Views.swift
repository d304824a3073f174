import Errand
import Testing

extension ConformanceCase {
    static let views = [
        ConformanceCase("an unused queue is empty") { fixture in
            try await fixture.broker.deleteQueue(fixture.queue, force: false)
            let (status, sessions) = try await fixture.broker.status(of: fixture.queue)
            #expect(status.totals.counts.values.allSatisfy { $0 == 0 })
            #expect([status.ready, status.scheduled, status.running, status.retrying, status.dead] == [0, 0, 0, 0, 0])
            #expect(status.oldestReadyMilliseconds == 0)
            #expect(!status.isPaused)
            #expect(sessions == [])
            #expect(try await !fixture.broker.queues().contains(fixture.queue))
            try await fixture.pushPlain("a")
            #expect(try await fixture.broker.queues().contains(fixture.queue))
        },
        ConformanceCase("claims that wait in a session for a free slot are not executing") { fixture in
            let session = try await fixture.session()
            try await fixture.pushPlain("a", "b", "c", "d")
            _ = try await session.claim(2, free: 2)
            _ = try await session.claim(1, free: 0)
            let (status, sessions) = try await fixture.broker.status(of: fixture.queue)
            #expect([status.running, status.executing] == [3, 2])
            #expect(sessions.map(\.running) == [3] && sessions.map(\.executing) == [2])
        },
        ConformanceCase("a session executes no more than its concurrency") { fixture in
            let session = try await fixture.session()
            _ = try await fixture.broker.push(try (0..<20).map { try fixture.job("job\($0)") }, to: fixture.queue)
            _ = try await session.claim(20, free: 8)
            let (status, sessions) = try await fixture.broker.status(of: fixture.queue)
            let concurrency = try #require(sessions.first).concurrency
            #expect([status.running, status.executing] == [20, concurrency] && concurrency < 20)
        },
        ConformanceCase("the start, the version and the default retries of a worker are shown, if they are known") {
            fixture in
            _ = try await fixture.session()
            let session = Session(
                id: "versioned-session",
                host: "host",
                pid: 1,
                concurrency: 3,
                queues: [fixture.queue],
                lease: .seconds(60),
                operations: ["a-b": OperationDefaults(retries: 7), "a": OperationDefaults()],
                startedAt: 1_700_000_000_000,
                version: "1.2.3\n" + String(repeating: "x", count: 100)
            )
            try await fixture.broker.register(session, on: fixture.queue)
            let (_, sessions) = try await fixture.broker.status(of: fixture.queue)
            let known = try #require(sessions.first { $0.id == session.id })
            #expect(known.startedAt == 1_700_000_000_000)
            #expect(known.version?.hasPrefix("1.2.3") == true && known.version?.utf8.count ?? 65 <= 64)
            #expect(known.operations == ["a", "a-b"] && known.retries == ["a": 3, "a-b": 7])
            let other = try #require(sessions.first { $0.id != session.id })
            #expect(other.startedAt == nil && other.version == nil)
        },
        ConformanceCase("jobs that no worker can run are apart from the oldest ready job") { fixture in
            let session = try await fixture.session()
            try await fixture.push(fixture.job("a", operation: "rare"))
            try await session.report(.unroutable, try await session.claimOne())
            try await fixture.eventually("it is 20 ms old") {
                try await fixture.status().oldestUnroutableMilliseconds >= 20
            }
            #expect(try await fixture.status().oldestReadyMilliseconds == 0)
            try await fixture.pushPlain("b")
            try await fixture.eventually("b is 20 ms old") { try await fixture.status().oldestReadyMilliseconds >= 20 }
            let both = try await fixture.status()
            #expect(both.oldestUnroutableMilliseconds >= both.oldestReadyMilliseconds + 20)
        },
        ConformanceCase("status counts every state and every transition") { fixture in
            let session = try await fixture.session(operations: ["work": .init(), "a.thing": .init()], pid: 77)
            try await fixture.pushPlain("finished", "dead", "retrying", "running")
            let claims = try await session.claim()
            try await session.report(.finished, claims[0])
            try await session.report(.failed, claims[1])
            try await session.report(.timedOut, claims[2], retryDelay: 3_600_000)
            try await fixture.push(fixture.job("one", .drop), fixture.job("two", .replace), fixture.job("three", .drop))
            try await fixture.push(fixture.job("scheduled", delay: 3_600_000), fixture.job("cancelled"))
            _ = try await fixture.cancel("cancelled")

            let (status, sessions) = try await fixture.broker.status(of: fixture.queue)
            #expect(status.name == fixture.queue)
            #expect([status.ready, status.scheduled, status.running] == [1, 1, 1])
            #expect([status.retrying, status.dead, status.deferred] == [1, 1, 0])
            #expect((0...60_000).contains(status.oldestReadyMilliseconds))
            let expected = [
                "pushed": 8, "dropped": 1, "replaced": 1, "finished": 1, "failed": 1, "timed_out": 1, "cancelled": 1,
                "retried": 1, "recovered": 0, "released": 0, "dead": 1, "dead_trimmed": 0,
                "expired": 0, "skipped": 0, "workflow_finished": 0, "workflow_failed": 0, "workflow_cancelled": 0,
            ]
            for name in QueueStatus.Totals.names { #expect(status.totals[name] == expected[name], "total \(name)") }
            let listed = try #require(sessions.first)
            #expect(sessions.count == 1)
            #expect([listed.pid, listed.running, listed.concurrency] == [77, 1, 3])
            #expect([listed.id, listed.host] == [session.id, "host"])
            #expect(listed.operations == ["a.thing", "work"])
            #expect((0...60_000).contains(listed.lastBeatMilliseconds))
        },
        ConformanceCase("the age of the oldest ready job grows") { fixture in
            try await fixture.pushPlain("a")
            try await fixture.eventually("a is 20 ms old") { try await fixture.status().oldestReadyMilliseconds >= 20 }
            #expect(try await fixture.cancel("a") == .cancelled)
            #expect(try await fixture.status().oldestReadyMilliseconds == 0)
        },
        ConformanceCase("cancelled jobs in a long ready list are neither counted nor listed") { fixture in
            let all = (0..<2500).map { "j\($0 + 10_000)" }
            for first in stride(from: 0, to: 2500, by: 500) {
                _ = try await fixture.broker.push(
                    try all[first..<first + 500].map { try fixture.job($0) },
                    to: fixture.queue
                )
            }
            let cancelled = Array(all[500..<1600])
            for first in stride(from: 0, to: 1100, by: 100) {
                let verdicts = try await fixture.broker.cancel(Array(cancelled[first..<first + 100]), on: fixture.queue)
                #expect(verdicts.allSatisfy { $0 == .cancelled })
            }
            #expect(try await fixture.status().ready == 1400)
            #expect(try await fixture.ids(in: .ready, count: 500) == Array(all[..<500]) + Array(all[1600...]))
        },
        ConformanceCase("inspect replies in the order of the ids, without unknown ones") { fixture in
            try await fixture.pushPlain("a", "b")
            let session = try await fixture.session()
            _ = try await session.claimOne()
            let records = try await fixture.broker.inspect(["b", "never", "a"], on: fixture.queue)
            #expect(records.map { $0?.id } == ["b", nil, "a"])
            #expect(records.map { $0?.state } == [.ready, nil, .running])
            #expect(records.last??.session == session.id)
            let claimed = try #require(records.last??.claimedAt)
            #expect(records.first??.claimedAt == nil)
            let now = try await fixture.broker.now(on: fixture.queue)
            #expect((now - 60_000...now).contains(claimed), "\(claimed), and now \(now)")
            let page = try await fixture.broker.jobs(in: .running, on: fixture.queue, from: 0, count: 10)
            #expect(page.jobs.map(\.claimedAt) == [claimed])
            #expect(records.first??.body.isEmpty == false)
            #expect(try await fixture.broker.inspect([], on: fixture.queue) == [])
        },
        ConformanceCase("jobs of a state come in pages") { fixture in
            let session = try await fixture.session()
            let all = (0..<25).map { "j\($0 + 10)" }
            _ = try await fixture.broker.push(try all.map { try fixture.job($0) }, to: fixture.queue)
            #expect(try await fixture.pages(of: .ready) == [10, 10, 5])
            #expect(try await fixture.ids(in: .ready) == all)
            var claims = try await session.claim(25)
            #expect(try await fixture.pages(of: .running) == [10, 10, 5])
            #expect(try await fixture.ids(in: .running).sorted() == all)
            for claim in claims { try await session.report(.failed, claim, retryDelay: 0) }
            #expect(try await fixture.pages(of: .retrying) == [10, 10, 5])
            try await fixture.promote(25)
            claims = try await session.claim(25)
            for claim in claims { try await session.report(.failed, claim) }
            #expect(try await fixture.pages(of: .dead) == [10, 10, 5])
            _ = try await fixture.broker.retry(all, on: fixture.queue)
            claims = try await session.claim(25)
            for claim in claims { try await session.report(.finished, claim, result: "r") }
            #expect(try await fixture.ids(in: .finished).sorted() == all)
            #expect(try await fixture.ids(in: .finished).first == claims.last?.id, "the newest first")
            #expect(try await fixture.ids(in: .ready) == [])
        },
        ConformanceCase("large jobs come in small pages") { fixture in
            let all = (0..<20).map { "j\($0 + 10)" }
            for first in stride(from: 0, to: 20, by: 5) {
                let jobs = try all[first..<first + 5].map { id in
                    try OperationDescription(
                        Fixture.operation,
                        encoding: ["text": String(repeating: "x", count: 130_000)],
                        queue: fixture.queue,
                        id: id
                    ).makeEnvelope()
                }
                _ = try await fixture.broker.push(jobs, to: fixture.queue)
            }
            #expect(try await fixture.pages(of: .ready, count: 500) == [8, 8, 4])
            #expect(try await fixture.ids(in: .ready, count: 500) == all)
            #expect(try await fixture.broker.inspect(all, on: fixture.queue).map { $0?.id } == all)
        },
        ConformanceCase("scheduled, deferred and cancelled jobs can be listed") { fixture in
            _ = try await fixture.claimedHolder()
            try await fixture.push(fixture.job("next", .replace))
            try await fixture.push(
                fixture.job("b", delay: 7_200_000),
                fixture.job("a", delay: 3_600_000),
                fixture.job("c")
            )
            _ = try await fixture.cancel("c")
            #expect(try await fixture.ids(in: .deferred) == ["next"])
            #expect(try await fixture.ids(in: .scheduled) == ["a", "b"])
            #expect(try await fixture.ids(in: .cancelled) == ["c"])
            #expect(try await fixture.ids(in: .running) == ["old"])
        },
    ]
}

extension Fixture {
    /// Returns the number of jobs on each page of at most `count`.
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
