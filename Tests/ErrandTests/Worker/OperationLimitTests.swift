import Testing

@testable import Errand

/// The defaults of operations have the limits of the settings of jobs.
@Suite("Limits of operations")
struct OperationLimitTests {
    @Test(
        "an operation that no job can have ends the worker with the reason",
        .timeLimit(.minutes(2)),
        arguments: [
            ("a b", Duration.seconds(1), 0, "operation"), ("work", .seconds(400 * 86_400), 0, "timeout_ms"),
            ("work", .zero, 0, "timeout_ms"), ("work", .seconds(1), 1001, "retries"),
            ("work", .seconds(1), -1, "retries"),
        ]
    )
    func refused(_ name: String, _ timeout: Duration, _ retries: Int, _ field: String) async throws {
        let operation = RegisteredOperation(
            name,
            defaults: OperationDefaults(timeout: timeout, retries: retries),
            handler: .async { _ in .finished() }
        )
        let worker = Worker(broker: MemoryBroker(), operations: [operation])
        let error = await #expect(throws: BrokerError.self) { try await worker.run() }
        #expect(error?.code == .refused)
        #expect(
            "\(error.map { "\($0)" } ?? "")".contains("operation \"\(name)\" cannot be registered: its \"\(field)\"")
        )
    }

    @Test("the longest timeout and the most retries are used")
    func taken() throws {
        let defaults = OperationDefaults(timeout: .seconds(365 * 86_400), retries: 1000)
        try RegisteredOperation("work", defaults: defaults, handler: .async { _ in .finished() }).checkLimits()
    }
}
