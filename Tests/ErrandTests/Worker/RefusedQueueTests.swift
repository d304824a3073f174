import Errand
import TestSupport
import Testing

/// A queue whose calls fail does not use the slots that were granted to it.
@Suite("Slots of a queue whose calls are rejected", .timeLimit(.minutes(6)))
struct RefusedQueueTests {
    private let fixture = WorkerFixture()

    @Test("another queue gets all of the slots meanwhile")
    func goToAnother() async throws {
        let configuration = WorkerConfiguration(queues: [.init("refused"), .init("served")], concurrency: 2)
        fixture.broker.fail(with: BrokerError(.refused, "a key of the queue has the wrong type"), on: "refused")
        try await fixture.open(fixture.worker([fixture.held.operation()], configuration)) { _ in
            try await eventually("its calls are refused") { fixture.broker.failures["refused", default: 0] > 0 }
            for id in ["a", "b"] { try await fixture.push(id, to: "served") }
            try await eventually("both slots are taken", within: .seconds(20)) { fixture.held.begun.count == 2 }
            fixture.broker.fail(with: nil)
        }
    }
}
