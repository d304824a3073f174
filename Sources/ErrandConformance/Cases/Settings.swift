import Errand
import Testing

extension ConformanceCase {
    static let settings = [
        ConformanceCase("a paused queue hands out nothing until it is resumed") { stage in
            let hand = try await stage.session()
            try await stage.pushPlain("a", "b")
            let claim = try await hand.claimOne()
            try await stage.broker.configure(stage.queue, QueueSettings(isPaused: true))
            let report = Hand.outcome(.finished, claim)
            let answer = try await hand.exchange(reports: [report], wanted: 5)
            #expect(answer.isPaused)
            #expect(answer.claims.isEmpty)
            #expect(answer.accepted == [true], "ended runs are reported all the same")
            #expect(try await stage.status().isPaused)
            try await stage.broker.configure(stage.queue, QueueSettings(isPaused: false))
            #expect(try await !stage.status().isPaused)
            let resumed = try await hand.exchange(wanted: 5)
            #expect(!resumed.isPaused)
            #expect(resumed.claims.map(\.id) == ["b"])
        },
        ConformanceCase("a full queue refuses a batch whole") { stage in
            try await stage.broker.configure(stage.queue, QueueSettings(maximumLength: 3))
            try await stage.pushPlain("a", "b")
            let batch = [try stage.job("c"), try stage.job("d")]
            await #expect {
                try await stage.broker.push(batch, to: stage.queue)
            } throws: {
                ($0 as? BrokerError)?.code == .full
            }
            #expect(try await stage.record("c") == nil)
            try await stage.pushPlain("c")
            #expect(try await stage.status().ready == 3)
            let again = try await stage.broker.push([try stage.job("a"), try stage.job("c")], to: stage.queue)
            #expect(again.map(\.outcome) == [.exists, .exists], "what it has is no news")
            let hand = try await stage.session()
            try await hand.report(.finished, try await hand.claimOne())
            try await stage.pushPlain("d")
        },
        ConformanceCase("a full queue says how many jobs of a batch fit, from the first") { stage in
            try await stage.broker.configure(stage.queue, QueueSettings(maximumLength: 3))
            let batch = try ["a", "b", "c", "d", "e"].map { try stage.job($0) }
            try await stage.expectFull(batch, fitting: 3, "has room for 3 of these 5 jobs: it holds 0, its limit is 3")
            try await stage.pushPlain("a", "b")
            try await stage.expectFull(batch, fitting: 3, "has room for 3 of these 5 jobs: it holds 2, its limit is 3")
            try await stage.expectFull(Array(batch.dropFirst(2)), fitting: 1, "has room for 1 of these 3 jobs")
            try await stage.pushPlain("c")
            try await stage.expectFull(Array(batch.dropFirst(3)), fitting: 0, "is full: it holds 3, its limit is 3")
        },
        ConformanceCase("a push sent again needs no room, also when the limit was lowered") { stage in
            try await stage.pushPlain("a", "b")
            try await stage.broker.configure(stage.queue, QueueSettings(maximumLength: 1))
            let again = try await stage.broker.push([try stage.job("a"), try stage.job("b")], to: stage.queue)
            #expect(again.map(\.outcome) == [.exists, .exists])
        },
        ConformanceCase("pushes at the same time take the room that a queue has left") { stage in
            try await stage.broker.configure(stage.queue, QueueSettings(maximumLength: 10))
            let outcomes = await stage.pushAtOnce(30)
            #expect(outcomes.count { $0 == .accepted } == 10)
            #expect(outcomes.count { $0 == nil } == 20)
            #expect(try await stage.status().ready == 10)
        },
        ConformanceCase("a setting that is left out stays, and 0 puts the default back") { stage in
            try await stage.broker.configure(stage.queue, QueueSettings(isPaused: true, maximumLength: 1))
            try await stage.broker.configure(stage.queue, QueueSettings(publishesStarts: true))
            #expect(try await stage.status().isPaused)
            try await stage.broker.configure(stage.queue, QueueSettings(maximumLength: 0))
            try await stage.pushPlain("a", "b")
        },
        ConformanceCase("starts are published where a queue asks for it") { stage in
            let hand = try await stage.session()
            try await stage.pushPlain("a", "b")
            _ = try await hand.claimOne()
            #expect(try await stage.news() == [])
            try await stage.broker.configure(stage.queue, QueueSettings(publishesStarts: true))
            _ = try await hand.claimOne()
            let events = try await stage.log.drain()
            #expect(events.map(\.kind) == ["started"])
            #expect(events.map(\.id) == ["b"])
            #expect(events.map(\.attempt) == [1])
            #expect(events.map(\.worker) == [hand.id])
        },
        ConformanceCase("histories go when their time is over") { stage in
            try await stage.broker.configure(
                stage.queue,
                QueueSettings(rememberIDsMilliseconds: 1, keepHistoryMilliseconds: 1)
            )
            let hand = try await stage.session()
            try await stage.pushPlain("a", "b")
            for claim in try await hand.claim() {
                try await hand.report(.finished, claim, result: "r")
                try await Task.sleep(for: .milliseconds(10))
            }
            #expect(try await stage.record("a") == nil)
        },
    ]
}

extension Stage {
    /// Pushes jobs, each in a task of its own; `nil` for those that did not fit.
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

extension Stage {
    fileprivate func expectFull(_ jobs: [JobEnvelope], fitting: Int, _ words: String) async throws {
        let error = await #expect(throws: BrokerError.self) { try await broker.push(jobs, to: queue) }
        #expect(error?.code == .full)
        #expect(error?.fitting == fitting)
        #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
    }
}
