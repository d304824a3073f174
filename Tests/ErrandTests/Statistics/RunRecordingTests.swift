import Errand
import TestSupport
import Testing

@testable import Errand

@Suite("Runs recorded by a worker", .timeLimit(.minutes(6)))
struct RunRecordingTests {
    private struct Broken: Error {}

    private let fixture = WorkerFixture()

    private func push(_ operation: String, _ count: Int = 1, timeout: Duration = .seconds(60)) async throws {
        let job = try OperationDescription(operation, queue: WorkerFixture.queue, timeout: timeout, retries: 0)
        _ = try await Producer(broker: fixture.broker.memory).push(contentsOf: Array(repeating: job, count: count))
    }

    private func total(_ name: String) async throws -> Int {
        try await fixture.broker.memory.status(of: WorkerFixture.queue).queue.totals[name]
    }

    @Test("every outcome is recorded with its times, at the latest when the worker stops")
    func outcomes() async throws {
        let quick = RegisteredOperation("quick") { _ in }
        let dying = RegisteredOperation("die") { _ in throw Broken() }
        let slow = RegisteredOperation("slow") { _ in try await Task.sleep(for: .seconds(3600)) }
        try await fixture.open(fixture.worker([quick, dying, slow])) { _ in
            try await push("quick", 3)
            try await push("die")
            try await push("slow", timeout: .milliseconds(20))
            try await eventually("all have ended") {
                let (finished, dead) = (try await total("finished"), try await total("dead"))
                return finished == 3 && dead == 2
            }
        }
        let totals = try await fixture.broker.memory.runTotals(of: WorkerFixture.queue)
        #expect(totals["quick"]?.finished == 3 && totals["quick"]?.runs == 3)
        #expect(totals["quick"]?.waiting.count == 3 && totals["quick"]?.running.count == 3)
        #expect(totals["die"]?.failed == 1 && totals["die"]?.dead == 1)
        #expect(totals["slow"]?.timedOut == 1 && totals["slow"]?.dead == 1)
        let ran = try #require(totals["slow"]?.running.percentile(0.5))
        #expect(ran >= 16, "it ran for its timeout: \(ran)")
    }

    @Test("the time that a job waited is that since it became ready")
    func waiting() async throws {
        try await push("quick")
        try await eventually("it has waited") {
            try await fixture.broker.memory.status(of: WorkerFixture.queue).queue.oldestReadyMilliseconds >= 50
        }
        try await fixture.open(fixture.worker([RegisteredOperation("quick") { _ in }])) { _ in
            try await eventually("it has ended") { try await total("finished") == 1 }
        }
        let totals = try await fixture.broker.memory.runTotals(of: WorkerFixture.queue)
        #expect(try #require(totals["quick"]).waiting.totalMilliseconds >= 50)
    }

    @Test("runs are counted again if the broker certainly has not recorded them")
    func putBack() {
        let counter = RunCounter()
        let ending = RunEnding(status: .succeeded, timedOut: false, duration: .zero, error: nil)
        counter.count(ending, of: "a", waited: 1, ran: 1)
        let taken = counter.take()
        #expect(counter.isEmpty && taken["a"]?.finished == 1)
        counter.count(ending, of: "a", waited: 1, ran: 1)
        counter.putBack(taken)
        counter.count(ending, of: "b", waited: 1, ran: 1)
        counter.count(ending, of: "a", waited: 1, ran: 1)
        let all = counter.take()
        #expect(all["a"]?.finished == 3 && all["b"]?.finished == 1 && all.count == 2)
        #expect(counter.isEmpty && counter.take().isEmpty)
    }

    @Test("runs are recorded every five seconds, and a sample is taken every minute")
    func pace() {
        let start = ContinuousClock.now
        var pace = StatisticsPace()
        let asked: [(second: Int, hasRuns: Bool)] = [(0, false), (4, true), (5, true), (64, false), (65, false)]
        let due = asked.map { pace.isDue(at: start + .seconds($0.second), hasRuns: $0.hasRuns) }
        #expect(due == [true, false, true, false, true])
    }
}
