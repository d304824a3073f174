import Errand
import ErrandOperator
import Testing

/// The number of workers that a queue needs.
@Suite struct ScaleAdviceTests {
    private func queue(
        ready: Int = 0,
        scheduled: Int = 0,
        running: Int = 0,
        oldest: Int = 0,
        isPaused: Bool = false,
        unknown: [String: Int] = [:]
    ) -> QueueStatus {
        QueueStatus(
            name: "q",
            isPaused: isPaused,
            ready: ready,
            scheduled: scheduled,
            running: running,
            retrying: 0,
            dead: 0,
            deferred: 0,
            oldestReadyMilliseconds: oldest,
            unknownOperations: unknown,
            totals: QueueStatus.Totals(counts: [:])
        )
    }

    private func rates(pushed: Double = 0, finished: Double = 0) -> Rates {
        var rates = Rates()
        (rates.pushed, rates.finished) = (pushed, finished)
        return rates
    }

    private func sessions(_ count: Int, of slots: Int = 8, knowing operations: [String] = []) -> [SessionStatus] {
        (0..<count).map { number in
            SessionStatus(
                id: "session-\(number)",
                host: "here",
                pid: 1,
                running: 0,
                executing: 0,
                concurrency: slots,
                lastBeatMilliseconds: 0,
                operations: operations
            )
        }
    }

    private func wanted(
        _ queue: QueueStatus,
        _ rates: Rates,
        workers: Int,
        knowing operations: [String] = [],
        most: Int = 100,
        least: Int = 0
    ) -> Int {
        let goal = ScaleAdvice.Goal(within: .seconds(30), least: least, most: most)
        return ScaleAdvice(queue, rates, sessions(workers, knowing: operations), goal).wanted
    }

    @Test func wantsNoWorkersWithoutJobs() {
        #expect(wanted(queue(), rates(), workers: 4) == 0)
        #expect(wanted(queue(), rates(), workers: 4, least: 2) == 2)
        #expect(wanted(queue(ready: 1000, isPaused: true), rates(), workers: 4) == 0)
        #expect(wanted(queue(ready: 9, running: 1, isPaused: true), rates(), workers: 4) == 4)
    }

    @Test func wantsAFirstWorker() {
        #expect(wanted(queue(ready: 1), rates(), workers: 0) == 1)
        #expect(wanted(queue(), rates(pushed: 1), workers: 0) == 1)
        // Workers promote due jobs, which would wait forever without a worker.
        #expect(wanted(queue(scheduled: 7), rates(), workers: 0) == 1)
        #expect(wanted(queue(scheduled: 7), rates(), workers: 4) == 1)
    }

    @Test func wantsOneMoreWhileNothingIsKnownAndJobsWaitTooLong() {
        #expect(wanted(queue(ready: 9, oldest: 31_000), rates(), workers: 2) == 3)
        #expect(wanted(queue(ready: 9, oldest: 29_000), rates(), workers: 2) == 2)
    }

    @Test func wantsAsManyAsTheBacklogTakes() {
        // Two workers, all their slots busy, finish ten a second; 600 jobs in 30 s are 20 a second, besides the 10 that come.
        let busy = queue(ready: 600, running: 16)
        #expect(wanted(busy, rates(pushed: 10, finished: 10), workers: 2) == 6)
        #expect(wanted(busy, rates(pushed: 10, finished: 10), workers: 2, most: 5) == 5)
        #expect(wanted(queue(ready: .max, running: 8), rates(finished: 0.001), workers: 1, most: 7) == 7)
    }

    @Test func idleOnesCountAsAbleToWork() {
        // One job a second, run by one slot of twenty workers: two workers would suffice, but the advice halves at
        // most.
        #expect(wanted(queue(running: 1), rates(pushed: 1, finished: 1), workers: 20) == 10)
        #expect(wanted(queue(running: 1), rates(pushed: 1, finished: 1), workers: 2) == 1)
        // A short excess of pushes over finishes needs no more workers.
        #expect(wanted(queue(running: 8), rates(pushed: 12, finished: 8), workers: 10) == 5)
    }

    @Test func goesDownByHalvesAtTheMost() {
        #expect(wanted(queue(running: 1), rates(pushed: 1, finished: 100), workers: 20) == 10)
    }

    @Test func unroutableJobsAskForAtMostOneWorker() {
        let unroutable = queue(ready: 5, oldest: 3_600_000, unknown: ["new": 3, "newer": 2])
        for workers in 0...3 { #expect(wanted(unroutable, rates(), workers: workers) == 1) }
        #expect(wanted(unroutable, rates(), workers: 3, least: 2) == 2)
        #expect(wanted(unroutable, rates(finished: 1), workers: 8) == 1)
        // With a worker that has the operation they are ordinary work.
        #expect(wanted(unroutable, rates(), workers: 3, knowing: ["new", "newer"]) == 4)
        #expect(
            wanted(unroutable, rates(), workers: 3, knowing: (0..<500).map { "other\($0)" }) == 4,
            "there may be more"
        )
        // Other jobs run, and they count, however old the waiting ones are.
        let busy = queue(ready: 5, running: 9, oldest: 3_600_000, unknown: ["new": 5])
        #expect(wanted(busy, rates(), workers: 2) == 2)
    }

    @Test func unroutableJobsAreNoBacklog() {
        let busy = queue(ready: 700, running: 16, unknown: ["new": 100])
        #expect(wanted(busy, rates(pushed: 10, finished: 10), workers: 2) == 6)
        let advice = ScaleAdvice(busy, rates(finished: 10), sessions(2, of: 8), .init())
        #expect(advice.ready == 700)
        #expect(advice.backlogSeconds == 60)
        // Nonsensical counts.
        let odd = queue(ready: 5, unknown: ["new": .max, "newer": .max, "old": -7])
        #expect(wanted(odd, rates(), workers: 4) == 1)
        #expect(ScaleAdvice(odd, rates(), sessions(4, of: 2), .init()).backlogSeconds == 0)
        #expect(wanted(queue(ready: -5, unknown: ["new": 5]), rates(), workers: 4) == 0)
    }

    @Test func reportsHowLongTheBacklogTakes() {
        let advice = ScaleAdvice(queue(ready: 50), rates(finished: 10), sessions(1, of: 8), .init())
        #expect(advice.backlogSeconds == 5)
        #expect(ScaleAdvice(queue(ready: 50), rates(), sessions(1, of: 8), .init()).backlogSeconds == nil)
        #expect(ScaleAdvice(queue(), rates(), sessions(1, of: 8), .init()).backlogSeconds == 0)
    }
}
