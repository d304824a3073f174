import Errand
import Synchronization
import TestSupport
import Testing

/// A handler that did not stop in time keeps a thread or a task only until it returns.
@Suite("Handlers that return after all", .timeLimit(.minutes(6)))
struct LateReturnTests {
    private let shop = Workshop()

    @Test("any number of them one after the other is no reason to end")
    func oneAfterTheOther() async throws {
        let isStuck = Mutex(false)
        let configuration = WorkerConfiguration(stopGrace: .milliseconds(20))
        let worker = shop.worker([shop.held.operation(timeout: .milliseconds(10))], configuration) { event in
            if case .stuck = event { isStuck.withLock { $0 = true } }
        }
        try await shop.open(worker) { _ in
            for number in 1...configuration.mostOverruns + 1 {
                try await shop.push("job-\(number)")
                try await eventually("run \(number) is given up", within: .seconds(20)) {
                    try await shop.total("timed_out") == number && shop.held.begun.count >= number
                }
                shop.held.letGo()
            }
        }
        #expect(!isStuck.withLock { $0 })
    }
}
