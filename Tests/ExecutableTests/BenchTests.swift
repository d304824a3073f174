import Foundation
import TestSupport
import Testing

#if canImport(FoundationXML)
    import FoundationXML
#endif

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

    @Test(.timeLimit(.minutes(10)))
    func measuresEverythingAndLeavesNothing() async throws {
        let bench = try Program("errand", ["bench", "--jobs", "1000", "--runs", "1", "--json"])
        #expect(try await bench.end(within: .seconds(540)) == 0, "\(bench.lines)")
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
        #expect(try await bench.end(within: .seconds(300)) == 0, "\(bench.lines)")
        #expect(bench.lines.contains { $0.contains("drain, handlers that do nothing") }, "\(bench.lines)")
        #expect(try server.run("KEYS", "errand:*") == "")
    }

    private struct Growth: Decodable {
        struct Point: Decodable {
            let axis: String
            let value, bytes_per_waiting_job: Int
            let push_us, drain_us, server_us: Double
        }
        let growth: [Point]
    }

    @Test(.timeLimit(.minutes(10)))
    func drawsHowCostsGrow() async throws {
        let plot = NSTemporaryDirectory() + "growth-\(UInt32.random(in: 0 ... .max)).svg"
        defer { try? FileManager.default.removeItem(atPath: plot) }
        let arguments = ["bench", "--growth", "--jobs", "1000", "--most-waiting", "10000", "--plot", plot, "--json"]
        let bench = try Program("errand", arguments)
        #expect(try await bench.end(within: .seconds(540)) == 0, "\(bench.lines)")
        let line = try #require(bench.lines.last { $0.hasPrefix("{") })
        let points = try JSONDecoder().decode(Growth.self, from: Data(line.utf8)).growth
        #expect(points.filter { $0.axis == "waiting" }.map(\.value) == [10_000])
        #expect(points.filter { $0.axis == "bodies" }.map(\.value) == [100, 1024, 10_240, 102_400])
        #expect(points.allSatisfy { $0.push_us > 0 && $0.drain_us > 0 && $0.server_us > 0 }, "\(points)")
        #expect(points.last.map { (100_000...200_000).contains($0.bytes_per_waiting_job) } == true, "\(points)")
        let drawn = try String(contentsOfFile: plot, encoding: .utf8)
        #expect(XMLParser(data: Data(drawn.utf8)).parse(), "\(drawn)")
        #expect(drawn.split(separator: "µs a job by").count == 5, "one panel an axis")
    }

    @Test func refusesAPlotOfNothing() async throws {
        let bench = try Program("errand", ["bench", "--plot", "growth.svg"])
        #expect(try await bench.end(within: .seconds(300)) == 64)
        #expect(bench.lines.contains { $0.contains("--plot goes with --growth") }, "\(bench.lines)")
    }
}
