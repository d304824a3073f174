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
        let told = "had not ended within 30.0 seconds: it is ready: no worker serves queue default"
        #expect(error?.description.contains(told) == true, "\(error as Any)")
    }

    /// Why a job that waits in this queue has no result.
    private func reason(on broker: MemoryBroker) async throws -> String? {
        let producer = Producer(broker: broker)
        let receipt = try await producer.push(OperationDescription("work"))
        return await #expect(throws: JobNotFinished.self) {
            try await producer.result(of: receipt, within: .milliseconds(10))
        }?.error
    }

    @Test func `a time that is over says why the job has not run`() async throws {
        let broker = MemoryBroker()
        func session(with operation: String) -> Session {
            Session(
                id: "a-session",
                host: "here",
                pid: 1,
                concurrency: 1,
                queues: ["default"],
                lease: .seconds(60),
                operations: [operation: OperationDefaults()]
            )
        }
        #expect(try await reason(on: broker) == "no worker serves queue default")
        try await broker.register(session(with: "other"), on: "default")
        #expect(try await reason(on: broker) == "no worker of queue default has the operation work")
        try await broker.register(session(with: "work"), on: "default")
        #expect(try await reason(on: broker) == "3 jobs are ready in queue default, and 0 are running")
        try await broker.configure("default", QueueSettings(isPaused: true))
        #expect(try await reason(on: broker) == "queue default is paused")
    }
}
