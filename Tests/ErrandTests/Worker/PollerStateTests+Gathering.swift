import Testing

@testable import Errand

/// When a poller gathers reports, and for how long.
extension PollerStateTests {
    @Test("more reports are awaited for a moment while more jobs are held than run")
    mutating func gathers() throws {
        budget.note(.milliseconds(1))
        answer(try call().exchange, claims(1..<21))
        begin(try #require(try call().running))
        answer(try #require(state.sent))
        _ = state.ended(Run(id: "job-1", token: 1), report(1))
        guard case .gather = next() else { return #expect(Bool(false), "\(next())") }
        for token: Token in 2..<4 { _ = state.ended(Run(id: "job-\(token)", token: token), report(token)) }
        #expect(try call().exchange.reports.count == 3)
    }

    @Test("the jobs of a small reply begin before reports are awaited, those of a large one beside the next call")
    mutating func gathersAfterFew() throws {
        budget.note(.milliseconds(1))
        answer(try call().exchange, claims(1..<21))
        begin(try #require(try call().running))
        _ = state.ended(Run(id: "job-1", token: 1), report(1))
        answer(try #require(state.sent), claims(21..<61))
        begin(try run().reply)
        guard case .gather = next() else { return #expect(Bool(false), "\(next())") }
        answer(try call().exchange, claims(61..<189))
        _ = state.ended(Run(id: "job-2", token: 2), report(2))
        #expect(try call().running?.claims.count == 128)
        answer(try #require(state.sent), claims(189..<191, bytes: Array(repeating: 0, count: 40_000)))
        _ = state.ended(Run(id: "job-3", token: 3), report(3))
        #expect(try call().running?.claims.count == 2)
    }

    @Test("so many reports that they are worth a call end the moment")
    mutating func worthACall() throws {
        try gather(of: 200)
        for token: Token in 2...127 { #expect(end(token) == .nothing) }
        #expect(end(128) == .gathering)
    }

    @Test("the last run of the queue ends the moment, too: nothing is left to wait for")
    mutating func nothingLeft() throws {
        try gather(of: 20)
        for token: Token in 2...19 { #expect(end(token) == .nothing) }
        #expect(end(20) == .gathering)
        #expect(try call().exchange.reports.count == 20)
        // Outside of such a moment, reports wake nobody but the first one.
        answer(try #require(state.sent), claims(21..<23))
        begin(try run().reply)
        answer(try call().exchange)
        #expect(end(21) == .poller)
        #expect(end(22) == .nothing)
        // Jobs of other queues wait, but there is nothing to gather here.
        budget.close(10)
        #expect(try call().exchange.reports.count == 2)
    }

    @Test("reports are awaited a millisecond for each queue with work, at most fifty")
    func gatheringTimes() {
        for (queues, longest) in [(1, 1), (7, 7), (100, 50)] {
            let budget = SlotBudget(concurrency: 2, weights: Array(repeating: 1, count: queues + 1))
            _ = budget.settle(queues, wanted: 0, got: 0, looked: true)
            #expect(budget.gatheringTime == nil)
            budget.close(3)
            #expect(budget.gatheringTime == .milliseconds(longest))
        }
    }

    /// Claims jobs, and ends the first one: the poller awaits reports of the others.
    private mutating func gather(of count: Int) throws {
        budget.note(.microseconds(10))
        answer(try call().exchange, claims(1..<Token(count) + 1))
        begin(try #require(try call().running))
        answer(try #require(state.sent))
        #expect(end(1) == .poller)
        guard case .gather = next() else { return #expect(Bool(false), "\(next())") }
    }

    private mutating func end(_ token: Token) -> PollerState<Run>.Wake {
        state.ended(Run(id: "job-\(token)", token: token), report(token))
    }
}
