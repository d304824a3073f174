import TestSupport
import Testing

@testable import Errand

/// Two pollers of one session and one queue would take each other's calls for their own.
@Suite("Queues that are named twice", .timeLimit(.minutes(6)))
struct SettledQueuesTests {
    private var configuration: WorkerConfiguration {
        var configuration = WorkerConfiguration()
        configuration.queues = [.init("a"), .init("b"), .init("a", weight: 3)]
        return configuration
    }

    @Test("the first share counts, also where they were set one by one")
    func firstCounts() {
        let settled = configuration.serving([RegisteredOperation](), [])
        #expect(settled.queues == [.init("a"), .init("b")])
    }

    @Test("a worker serves such a queue once")
    func servedOnce() async throws {
        let shop = Workshop()
        let worker = shop.worker([shop.held.operation()], configuration)
        try await shop.open(worker) { _ in
            try await shop.push("job", to: "a")
            try await shop.begin()
            #expect(worker.session?.queues == ["a", "b"])
        }
    }
}
