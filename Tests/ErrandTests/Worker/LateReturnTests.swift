import Errand
import Synchronization
import TestSupport
import Testing

/// A handler that did not stop in time keeps a thread or a task only until it returns.
@Suite("Handlers that return late", .timeLimit(.minutes(6)))
struct LateReturnTests {
    private let fixture = WorkerFixture()

    @Test("any number of consecutive losses does not end the worker")
    func oneAfterTheOther() async throws {
        let isStuck = Mutex(false)
        let configuration = WorkerConfiguration(stopGrace: .milliseconds(20))
        let worker = fixture.worker([fixture.held.operation(timeout: .milliseconds(10))], configuration) { event in
            if case .stuck = event { isStuck.withLock { $0 = true } }
        }
        try await fixture.open(worker) { _ in
            for number in 1...configuration.mostOverruns + 1 {
                try await fixture.push("job-\(number)")
                try await eventually("run \(number) is given up", within: .seconds(20)) {
                    try await fixture.total("timed_out") == number && fixture.held.begun.count >= number
                }
                fixture.held.letGo()
            }
        }
        #expect(!isStuck.withLock { $0 })
    }
}
