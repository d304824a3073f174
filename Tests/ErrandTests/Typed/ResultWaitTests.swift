import Errand
import Testing

/// The waiting time of `result(of:)`.
@Suite struct ResultWaitTests {
    @Test func `a result is waited for 30 s unless the caller says otherwise`() async throws {
        let producer = Producer(broker: MemoryBroker())
        let receipt = try await producer.push(OperationDescription("nothing-runs-it"))
        let start = ContinuousClock.now
        let error = await #expect(throws: JobNotFinished.self) { try await producer.result(of: receipt) }
        #expect((.seconds(29) ... .seconds(120)).contains(ContinuousClock.now - start))
        #expect(error?.isOutOfTime == true)
        #expect(error?.limit == .seconds(30))
        #expect(error?.description.contains("had not ended within 30.0 seconds: it is ready") == true)
    }
}
