import Errand
import ErrandRedis
import TestSupport
import Testing

@Suite("Scripts of statistics")
struct StatisticsScriptTests {
    @Test("the scripts and Swift agree on the buckets", arguments: StatisticsResolution.allCases)
    func resolutions(resolution: StatisticsResolution) throws {
        let script = try #require(Script.all.first { $0.name == "record" })
        let numbers = "\(resolution.rawValue) = { \(resolution.step), \(resolution.together), \(resolution.kept) }"
        #expect(String(decoding: script.text, as: UTF8.self).contains(numbers))
    }

    @Test("statistics expire, and keys of a wrong type are replaced")
    func expiry() async throws {
        let server = try RedisServer()
        let broker = try BrokenScripts.broker(on: server)
        defer { broker.close() }
        _ = try await Producer(broker: broker).push(OperationDescription("work", queue: "q"))
        let runs = ["work": RunStatistics(cells: "0=1")]
        try await broker.record(runs, on: "q")
        try await broker.record(runs, on: "q")
        let now = try await broker.now(on: "q")
        let hours = try await broker.statistics(of: "q", .hours, from: now - 3_600_000, to: now, withRuns: true)
        #expect(hours.byOperation["work"]?.finished == 2, "the runs of a bucket are added up")
        let names = try server.run("KEYS", "errand:{q}:statistics:*").split(whereSeparator: \.isNewline).map(
            String.init
        )
        #expect(names.count == 4, "\(names)")
        for name in names where !name.hasSuffix(":runs") {
            #expect(try #require(Int(try server.run("PTTL", name))) > 0, "\(name)")
        }
        for name in names {
            try server.run("DEL", name)
            try server.run("SET", name, "x")
        }
        try await broker.record(runs, on: "q")
        #expect(try await broker.runTotals(of: "q") == runs)
        #expect(try await broker.audit("q", repair: false) == [])
        try await broker.deleteQueue("q", force: true)
        #expect(try server.run("KEYS", "errand:{q}:*").isEmpty)
    }
}
