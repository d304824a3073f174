import Errand
import Testing

extension ConformanceCase {
    static let settings = [
        ConformanceCase("no job of a paused queue is claimed until it is resumed") { fixture in
            let session = try await fixture.session()
            try await fixture.pushPlain("a", "b")
            let claim = try await session.claimOne()
            try await fixture.broker.configure(fixture.queue, QueueSettings(isPaused: true))
            let report = TestSession.outcome(.finished, claim)
            let answer = try await session.exchange(reports: [report], wanted: 5)
            #expect(answer.isPaused)
            #expect(answer.claims.isEmpty)
            #expect(answer.accepted == [true], "ended runs are reported all the same")
            #expect(try await fixture.status().isPaused)
            try await fixture.broker.configure(fixture.queue, QueueSettings(isPaused: false))
            #expect(try await !fixture.status().isPaused)
            let resumed = try await session.exchange(wanted: 5)
            #expect(!resumed.isPaused)
            #expect(resumed.claims.map(\.id) == ["b"])
        },
        ConformanceCase("a full queue rejects a batch as a whole") { fixture in
            try await fixture.broker.configure(fixture.queue, QueueSettings(maximumLength: 3))
            try await fixture.pushPlain("a", "b")
            let batch = [try fixture.job("c"), try fixture.job("d")]
            await #expect {
                try await fixture.broker.push(batch, to: fixture.queue)
            } throws: {
                ($0 as? BrokerError)?.code == .full
            }
            #expect(try await fixture.record("c") == nil)
            try await fixture.pushPlain("c")
            #expect(try await fixture.status().ready == 3)
            let again = try await fixture.broker.push([try fixture.job("a"), try fixture.job("c")], to: fixture.queue)
            #expect(again.map(\.outcome) == [.exists, .exists], "what it has is no news")
            let session = try await fixture.session()
            try await session.report(.finished, try await session.claimOne())
            try await fixture.pushPlain("d")
        },
        ConformanceCase("a full queue reports how many jobs of a batch fit, from the first") { fixture in
            try await fixture.broker.configure(fixture.queue, QueueSettings(maximumLength: 3))
            let batch = try ["a", "b", "c", "d", "e"].map { try fixture.job($0) }
            try await fixture.expectFull(
                batch,
                fitting: 3,
                "has room for 3 of these 5 jobs: it holds 0, its limit is 3"
            )
            try await fixture.pushPlain("a", "b")
            try await fixture.expectFull(
                batch,
                fitting: 3,
                "has room for 3 of these 5 jobs: it holds 2, its limit is 3"
            )
            try await fixture.expectFull(Array(batch.dropFirst(2)), fitting: 1, "has room for 1 of these 3 jobs")
            try await fixture.pushPlain("c")
            try await fixture.expectFull(Array(batch.dropFirst(3)), fitting: 0, "is full: it holds 3, its limit is 3")
        },
        ConformanceCase("a repeated push needs no room, even after the limit was lowered") { fixture in
            try await fixture.pushPlain("a", "b")
            try await fixture.broker.configure(fixture.queue, QueueSettings(maximumLength: 1))
            let again = try await fixture.broker.push([try fixture.job("a"), try fixture.job("b")], to: fixture.queue)
            #expect(again.map(\.outcome) == [.exists, .exists])
        },
        ConformanceCase("concurrent pushes fill exactly the room that a queue has left") { fixture in
            try await fixture.broker.configure(fixture.queue, QueueSettings(maximumLength: 10))
            let outcomes = await fixture.pushAtOnce(30)
            #expect(outcomes.count { $0 == .accepted } == 10)
            #expect(outcomes.count { $0 == nil } == 20)
            #expect(try await fixture.status().ready == 10)
        },
        ConformanceCase("a setting that is left out stays, and 0 restores the default") { fixture in
            try await fixture.broker.configure(fixture.queue, QueueSettings(isPaused: true, maximumLength: 1))
            try await fixture.broker.configure(fixture.queue, QueueSettings(publishesStarts: true))
            #expect(try await fixture.status().isPaused)
            try await fixture.broker.configure(fixture.queue, QueueSettings(maximumLength: 0))
            try await fixture.pushPlain("a", "b")
        },
        ConformanceCase("starts are published if the queue's setting says so") { fixture in
            let session = try await fixture.session()
            try await fixture.pushPlain("a", "b")
            _ = try await session.claimOne()
            #expect(try await fixture.news() == [])
            try await fixture.broker.configure(fixture.queue, QueueSettings(publishesStarts: true))
            _ = try await session.claimOne()
            let events = try await fixture.log.drain()
            #expect(events.map(\.kind) == ["started"])
            #expect(events.map(\.id) == ["b"])
            #expect(events.map(\.attempt) == [1])
            #expect(events.map(\.worker) == [session.id])
        },
        ConformanceCase("history records expire") { fixture in
            try await fixture.broker.configure(
                fixture.queue,
                QueueSettings(rememberIDsMilliseconds: 1, keepHistoryMilliseconds: 1)
            )
            let session = try await fixture.session()
            try await fixture.pushPlain("a", "b")
            for claim in try await session.claim() {
                try await session.report(.finished, claim, result: "r")
                try await Task.sleep(for: .milliseconds(10))
            }
            #expect(try await fixture.record("a") == nil)
        },
    ]
}

extension Fixture {
    /// Pushes jobs, each in its own task; the result is `nil` for those that did not fit.
    fileprivate func pushAtOnce(_ jobs: Int) async -> [Receipt.Outcome?] {
        await withTaskGroup(of: Receipt.Outcome?.self) { group in
            for number in 0..<jobs {
                group.addTask {
                    do {
                        let receipt = try await broker.push([try job("j\(number)")], to: queue).first
                        #expect(receipt?.id == "j\(number)")
                        return receipt?.outcome
                    } catch {
                        #expect((error as? BrokerError)?.code == .full)
                        return nil
                    }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
    }
}

extension Fixture {
    fileprivate func expectFull(_ jobs: [JobEnvelope], fitting: Int, _ words: String) async throws {
        let error = await #expect(throws: BrokerError.self) { try await broker.push(jobs, to: queue) }
        #expect(error?.code == .full)
        #expect(error?.fitting == fitting)
        #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
    }
}
