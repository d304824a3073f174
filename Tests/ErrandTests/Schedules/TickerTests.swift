import Errand
import Foundation
import Logging
import Testing

/// Pushing due ticks.
struct TickerTests {
    /// A broker that rejects the jobs of one schedule.
    private struct Refusing: TickingBroker {
        let inner: MemoryBroker
        let unwanted: String

        func put(_ schedule: Schedule) async throws(BrokerError) -> ScheduleOutcome { try await inner.put(schedule) }

        func dueSchedules(on queue: String, skipping count: Int) async throws(BrokerError) -> DueSchedules {
            try await inner.dueSchedules(on: queue, skipping: count)
        }

        func tick(_ proposal: TickProposal, on queue: String) async throws(BrokerError) -> TickOutcome {
            guard proposal.schedule != unwanted else { throw BrokerError(.refused, "not this one") }
            return try await inner.tick(proposal, on: queue)
        }
    }

    private static let now: Int64 = 1_795_215_724_500

    private func schedule(_ name: String, _ catchUp: Schedule.CatchUp = .latest) throws -> Schedule {
        try Schedule(name, .every(.seconds(1)), pushing: OperationDescription("work", queue: "q"), catchUp: catchUp)
    }

    private func record(_ schedule: Schedule, next: Int64) -> ScheduleRecord {
        ScheduleRecord(name: schedule.name, definition: schedule.encoded(), nextTick: next)
    }

    @Test("a schedule that the broker rejects does not keep others from ticking")
    func refused() async throws {
        let broker = Refusing(inner: MemoryBroker(), unwanted: "first")
        for name in ["first", "second"] { _ = try await broker.put(schedule(name)) }
        var pushed = 0
        while pushed == 0 {
            pushed = try await Ticker(broker, queue: "q", logger: Logger(label: "t")).work().pushed
        }
        #expect(try await broker.inner.status(of: "q").queue.totals["pushed"] == pushed)
        let first = try #require(try await broker.inner.schedule("first", on: "q"))
        #expect(first.pushed == 0 && first.lastTick == nil, "it stays due")
        #expect(try #require(try await broker.inner.schedule("second", on: "q")).pushed == pushed)
    }

    @Test("a tick pushes at most as many jobs as a call may have; the others stay due", arguments: [991, 1000])
    func mostJobs(_ limit: Int) throws {
        let schedule = try schedule("s", .all(limit: limit))
        let first = (Self.now / 1000 - 1500) * 1000
        let proposal = try TickProposal(record(schedule, next: first), schedule, now: Self.now)
        #expect(proposal.jobs.count == TickProposal.mostJobs && proposal.ticks.count == TickProposal.mostJobs)
        let next = try #require(proposal.next)
        #expect(next == proposal.ticks.last.map { $0 + 1000 })
        #expect(proposal.missed == 1501 - limit - 10)
        let rest = try TickProposal(record(schedule, next: next), schedule, now: Self.now)
        #expect(rest.ticks.count == limit + 10 - TickProposal.mostJobs && rest.missed == 0)
        #expect(rest.next == schedule.timing.next(after: Self.now))
    }
}
