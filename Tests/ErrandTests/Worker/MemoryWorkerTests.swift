import Errand
import ErrandConformance
import Testing

/// The conformance suite of workers on the in-memory broker.
@Suite("Workers on MemoryBroker")
struct MemoryWorkerTests {
    @Test("conforms", .timeLimit(.minutes(6)), arguments: WorkerCase.allCases)
    func conforms(_ workerCase: WorkerCase) async throws {
        try await workerCase.run(on: MemoryBroker())
    }
}
