import ErrandModel
import TestSupport
import Testing

/// The brokers do what the model says; `errand-model` plays many more histories.
@Suite("The brokers agree with the model")
struct ComparisonTests {
    @Test("the in-memory broker, on random histories", .timeLimit(.minutes(5)), arguments: 0..<4)
    func memory(portion: UInt64) throws {
        var comparison = MemoryComparison()
        for seed in portion * 100..<portion * 100 + 100 {
            let history = HistoryMaker.history(seed: seed, steps: 60)
            let fault = try comparison.fault(in: history)
            #expect(fault == nil, "errand-model memory --seed \(seed) --steps 60")
        }
    }

    @Test("the scripts, on random histories", .timeLimit(.minutes(5)), arguments: [false, true])
    func redis(tombstones: Bool) async throws {
        let server = try RedisServer()
        let comparison = try await RedisComparison(
            on: server,
            TestScripts.make(tombstones: tombstones),
            keepsTombstones: tombstones
        )
        defer { comparison.close() }
        var style = HistoryMaker.Style()
        style.looksAtOne = true
        style.isPlain = tombstones
        for seed in UInt64(1)...60 {
            let history = HistoryMaker.history(seed: seed, steps: 60, style)
            let fault = try await comparison.fault(in: history, queue: 1)
            let more = tombstones ? " --tombstones" : ""
            #expect(fault == nil, "errand-model redis --seed \(seed) --steps 60\(more)")
        }
    }
}
