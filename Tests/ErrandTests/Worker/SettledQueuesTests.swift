import TestSupport
import Testing

@testable import Errand

/// Two pollers of one session and one queue would mistake each other's calls for their own.
@Suite("Duplicate queue names", .timeLimit(.minutes(6)))
struct SettledQueuesTests {
    private var configuration: WorkerConfiguration {
        var configuration = WorkerConfiguration()
        configuration.queues = [.init("a"), .init("b"), .init("a", weight: 3)]
        return configuration
    }

    @Test("the first share counts, also if shares were set one by one")
    func firstCounts() {
        let settled = configuration.serving([RegisteredOperation](), [])
        #expect(settled.queues == [.init("a"), .init("b")])
    }

    @Test("a worker serves such a queue with one poller")
    func servedOnce() async throws {
        let fixture = WorkerFixture()
        let worker = fixture.worker([fixture.held.operation()], configuration)
        try await fixture.open(worker) { _ in
            try await fixture.push("job", to: "a")
            try await fixture.begin()
            #expect(worker.session?.queues == ["a", "b"])
        }
    }
}
