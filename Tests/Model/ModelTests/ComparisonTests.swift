import ErrandModel
import TestSupport
import Testing

/// Both brokers do the same; `errand-model` plays many more histories.
@Suite("The brokers agree")
struct ComparisonTests {
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
            let history = try HistoryMaker.history(seed: seed, steps: 60, style)
            let fault = try await comparison.fault(in: history, queue: 1)
            let more = tombstones ? " --tombstones" : ""
            #expect(fault == nil, "errand-model redis --seed \(seed) --steps 60\(more)")
        }
    }
}
