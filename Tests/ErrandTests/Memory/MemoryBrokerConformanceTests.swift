import Errand
import ErrandConformance
import Testing

/// The conformance suite on the in-memory broker.
@Suite("MemoryBroker conforms")
struct MemoryBrokerConformanceTests {
    @Test("conforms", .timeLimit(.minutes(6)), arguments: ConformanceCase.allCases)
    func conforms(_ conformanceCase: ConformanceCase) async throws {
        try await conformanceCase.run(on: MemoryBroker())
    }
}
