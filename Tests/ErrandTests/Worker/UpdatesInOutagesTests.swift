import Errand
import Synchronization
import TestSupport
import Testing

@Suite("Reports of running jobs while the broker is away", .timeLimit(.minutes(6)))
struct UpdatesInOutagesTests {
    /// What the handler waits for, and how far it has come.
    private final class Course: Sendable {
        let hasBegun = Mutex(false)
        let hasReported = Mutex(false)
        private let (prepared, preparation) = AsyncStream.makeStream(of: Void.self)

        /// Waits until the test has prepared the broker.
        func begin() async {
            hasBegun.withLock { $0 = true }
            for await _ in prepared { break }
        }

        /// Lets the handler go on.
        func prepare() { preparation.yield() }
    }

    private let fixture = WorkerFixture()
    private let course = Course()

    @Test(
        "an outage fails no job that reports progress and checkpoints",
        arguments: [BrokerError.Code.notReachable, .outcomeUnknown]
    )
    func outage(code: BrokerError.Code) async throws {
        let operation = RegisteredOperation("report") { [course] (job: JobContext) async throws -> Void in
            await course.begin()
            try await job.progress(0.5, "half")
            course.hasReported.withLock { $0 = true }
            try await job.checkpoint(7)
        }
        try await fixture.open(fixture.worker([operation])) { _ in
            try await fixture.push("one", "report")
            try await eventually("it has begun") { course.hasBegun.withLock { $0 } }
            fixture.broker.fail(with: BrokerError(code, "away"))
            course.prepare()
            try await eventually("the progress is left out") { course.hasReported.withLock { $0 } }
            #expect(try await fixture.status().running == 1)
            fixture.broker.fail(with: nil)
            try await eventually("the job has finished") { try await fixture.total("finished") == 1 }
        }
        #expect(try await fixture.total("failed") == 0)
    }

    @Test("a report that the broker rejects fails the run")
    func rejection() async throws {
        let operation = RegisteredOperation("report") { [course] (job: JobContext) async throws -> Void in
            await course.begin()
            try await job.progress(0.5)
        }
        try await fixture.open(fixture.worker([operation])) { _ in
            try await fixture.push("one", "report")
            fixture.broker.failUpdates(with: BrokerError(.refused, "no"))
            course.prepare()
            try await eventually("the run has failed") { try await fixture.total("failed") == 1 }
        }
    }
}
