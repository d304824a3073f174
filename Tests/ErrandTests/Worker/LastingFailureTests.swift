import InMemoryLogging
import Logging
import TestSupport
import Testing

@testable import Errand

/// Failures that are retried are only logged if they last.
@Suite("Lasting failures", .timeLimit(.minutes(6)))
struct LastingFailureTests {
    private let start = ContinuousClock.now

    @Test("a failure is logged after five seconds, then once a minute")
    func areReportedInTime() {
        let failures = LastingFailures()
        let logged = (0...130).filter { failures.note("call", now: start + .seconds($0)) }
        #expect(logged == [5, 65, 125])
        failures.clear("call")
        #expect(!failures.note("call", now: start + .seconds(200)), "it starts again")
    }

    @Test("failures with one cause are one warning")
    func areReportedTogether() {
        let failures = LastingFailures()
        var logged = 0
        for second in 0...20 {
            for queue in 0..<20 where failures.note("call \(queue)", now: start + .seconds(second)) { logged += 1 }
        }
        #expect(logged == 1)
    }

    @Test("the limit is halved down to one job, and doubled after a minute")
    func limitsClaims() {
        var limit = ClaimLimit()
        #expect(limit.current(at: start) == 500)
        for (wanted, expected) in [(8, 4), (4, 2), (2, 1), (1, 1)] {
            let lowered = limit.lower(after: wanted, at: start)
            #expect(lowered.most == expected && lowered.isLowest == (wanted > 1))
        }
        #expect(limit.current(at: start + .seconds(59)) == 1)
        #expect(limit.current(at: start + .seconds(60)) == 2)
        #expect(limit.current(at: start + .seconds(61)) == 2)
        #expect(!limit.lower(after: 2, at: start + .seconds(62)).isLowest, "it was as low before")
        var second = 62
        while limit.current(at: start + .seconds(second)) < 500 { second += 60 }
        #expect(second == 62 + 9 * 60)
    }

    @Test("a worker reports that its broker has not answered for long, and what it cannot do")
    func aWorkerSaysSo() async throws {
        let broker = TroubledBroker()
        let log = InMemoryLogHandler()
        let worker = Worker(
            broker: broker,
            configuration: WorkerConfiguration(queues: [.init("silent")]),
            operations: [RegisteredOperation("noop") { _ in }],
            logger: Logger(label: "worker") { _ in log }
        )
        broker.fail(with: BrokerError(.notReachable, "no room on the disk"))
        let work = Task { try await worker.run() }
        try await eventually("it says so") {
            log.entries.contains { $0.level == .warning && $0.metadata["error"] == "no room on the disk" }
        }
        #expect(log.entries.filter { $0.level >= .warning }.count == 1)
        broker.fail(with: nil)
        work.cancel()
        try await work.value
    }
}
