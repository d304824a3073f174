import Errand
import TestSupport
import Testing

/// A queue whose calls fail has no use for the slots that were granted to it.
@Suite("Slots of a queue whose calls are refused", .timeLimit(.minutes(6)))
struct RefusedQueueTests {
    private let shop = Workshop()

    @Test("another queue gets all of them meanwhile")
    func goToAnother() async throws {
        let configuration = WorkerConfiguration(queues: [.init("refused"), .init("served")], concurrency: 2)
        shop.broker.fail(with: BrokerError(.refused, "a key of the queue has the wrong type"), on: "refused")
        try await shop.open(shop.worker([shop.held.operation()], configuration)) { _ in
            try await eventually("its calls are refused") { shop.broker.failures["refused", default: 0] > 0 }
            for id in ["a", "b"] { try await shop.push(id, to: "served") }
            try await eventually("both slots are taken", within: .seconds(20)) { shop.held.begun.count == 2 }
            shop.broker.fail(with: nil)
        }
    }
}
