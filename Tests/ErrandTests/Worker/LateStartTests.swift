import Backgroundable
import Synchronization
import TestSupport
import Testing

@testable import Errand

/// A claim that has waited too long for a slot begins no run, also where nobody was there to give it back in time.
@Suite("Claims that have waited too long", .timeLimit(.minutes(6)))
struct LateStartTests {
    /// How often a handler was called.
    private final class Calls: Sendable {
        let count = Atomic(0)
    }

    /// The reports of runs.
    private final class Reports: JobRunDelegate {
        let queue = "late"
        let all = Mutex<[OutcomeReport]>([])

        func noteBegun(_ token: Token) {}
        func count(_ ending: RunEnding, of operation: String, waited: Int, ran: Int) {}
        func ended(_ run: JobRun, _ report: OutcomeReport?) { all.withLock { $0 += [report].compactMap(\.self) } }
    }

    private let calls = Calls()
    private let reports = Reports()
    private let context = SessionContext.forTests(queues: ["late"])

    /// What is reported of a job's run that gets its slot now.
    private func report(claimedAt: ContinuousClock.Instant) async throws -> OutcomeReport {
        let envelope = try OperationDescription("noop", id: "late-job").makeEnvelope()
        let body = Array("1700000000000".utf8) + envelope.bytes
        let operation = RegisteredOperation(
            "noop",
            handler: .blocking { [calls] _ in
                calls.count.add(1, ordering: .relaxed)
                return .finished()
            }
        )
        let run = JobRun(
            Claim(id: envelope.id, token: 7, attempt: 1, crashes: 0, body: body),
            try JobEnvelope.read(stored: body),
            operation,
            of: reports,
            in: context,
            claimedAt: claimedAt
        )
        context.localQueue.add([run.makeOperation()])
        try await eventually("it is reported") { reports.all.withLock { !$0.isEmpty } }
        let all = reports.all.withLock { $0 }
        return try #require(all.first)
    }

    @Test("one whose time is over when it gets its slot goes back, with nothing spent")
    func goesBack() async throws {
        let report = try await report(
            claimedAt: ContinuousClock.now - context.limits.longestClaimWait - .milliseconds(1)
        )
        #expect(report.verb == .released)
        #expect(report.token == 7 && report.attempt == 1)
        #expect(calls.count.load(ordering: .relaxed) == 0)
    }

    @Test("one that gets its slot in time is run")
    func isRun() async throws {
        #expect(try await report(claimedAt: .now).verb == .finished)
        #expect(calls.count.load(ordering: .relaxed) == 1)
    }
}
