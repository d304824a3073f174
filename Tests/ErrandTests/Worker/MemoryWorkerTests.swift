import Errand
import ErrandConformance
import Testing

/// Workers on the broker in memory do what workers must do on every broker.
@Suite("Workers on MemoryBroker")
struct MemoryWorkerTests {
    @Test("conforms", .timeLimit(.minutes(6)), arguments: WorkerCase.allCases)
    func conforms(_ workerCase: WorkerCase) async throws {
        try await workerCase.run(on: MemoryBroker())
    }
}
