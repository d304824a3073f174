import Foundation
import TestSupport
import Testing

/// `errand bench` as a process; of its figures only that they are there and make sense.
@Suite struct BenchTests {
    private struct Figures: Decodable {
        struct Ceiling: Decodable { let push_single, push_batch, claim_finish_batch: Int }
        struct Unique: Decodable { let new, drop, replace: Int }
        struct Latencies: Decodable { let p50, p95, p99, max: Double }

        let jobs, runs, push_awaited, push_concurrent, push_bulk, drain, drain_async, mixed: Int
        let bytes_per_waiting_job, worker_rss_bytes: Int
        let commands_per_job, server_us_per_job, idle_commands_per_s: Double
        let ceiling: Ceiling
        let unique: Unique
        let pickup_ms, pickup_200_idle_ms: Latencies
    }

    @Test(.timeLimit(.minutes(5)))
    func measuresEverythingAndLeavesNothing() async throws {
        let bench = try Program("errand", ["bench", "--jobs", "1000", "--runs", "1", "--json"])
        #expect(try await bench.end(within: .seconds(240)) == 0, "\(bench.lines)")
        let line = try #require(bench.lines.last { $0.hasPrefix("{") })
        let figures = try JSONDecoder().decode(Figures.self, from: Data(line.utf8))
        #expect(figures.jobs == 1000 && figures.runs == 1)
        let rates = [
            figures.push_awaited, figures.push_concurrent, figures.push_bulk, figures.drain, figures.drain_async,
            figures.mixed, figures.ceiling.push_single, figures.ceiling.push_batch,
            figures.ceiling.claim_finish_batch, figures.unique.new, figures.unique.drop, figures.unique.replace,
        ]
        #expect(rates.allSatisfy { $0 > 0 }, "\(rates)")
        for latencies in [figures.pickup_ms, figures.pickup_200_idle_ms] {
            let sorted = [latencies.p50, latencies.p95, latencies.p99, latencies.max]
            #expect(sorted == sorted.sorted() && latencies.p50 > 0, "\(sorted)")
        }
        #expect((0.001...2).contains(figures.commands_per_job))
        #expect((100...1000).contains(figures.bytes_per_waiting_job))
        #expect(figures.worker_rss_bytes > 1_000_000 && figures.server_us_per_job > 0)
        #expect(figures.idle_commands_per_s > 0)
    }

    @Test func leavesNoQueueOnAServerOfOthers() async throws {
        let server = try RedisServer()
        let bench = try Program(
            "errand",
            ["bench", "--jobs", "1000", "--runs", "1", "--only", "drain", "--redis", server.shownURL]
        )
        #expect(try await bench.end(within: .seconds(120)) == 0, "\(bench.lines)")
        #expect(bench.lines.contains { $0.contains("drain, handlers that do nothing") }, "\(bench.lines)")
        #expect(try server.run("KEYS", "errand:*") == "")
    }
}
