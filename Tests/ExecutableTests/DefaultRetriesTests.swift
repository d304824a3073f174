import Errand
import ErrandOperator
import Testing

/// The default retries of live workers.
@Suite struct DefaultRetriesTests {
    private static func session(_ retries: [String: Int]) -> SessionStatus {
        SessionStatus(
            id: "session",
            host: "here",
            pid: 1,
            running: 0,
            executing: 0,
            concurrency: 8,
            lastBeatMilliseconds: 0,
            operations: retries.keys.sorted(),
            retries: retries
        )
    }

    @Test func `they are known if all workers with an operation agree`() {
        let sessions = [["a": 3, "b": 3], ["a": 3, "b": 5], ["b": 3, "c": 0]].map(Self.session)
        let retries = DefaultRetries(sessions)
        #expect(retries["a"] == 3 && retries["c"] == 0)
        #expect(retries["b"] == nil, "workers differ, for example during a deployment")
        #expect(retries["d"] == nil)
    }
}
