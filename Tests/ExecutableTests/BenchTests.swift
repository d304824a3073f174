import Foundation
import TestSupport
import Testing

#if canImport(FoundationXML)
    import FoundationXML
#endif

/// `errand bench` as a process; its figures are only checked for plausibility.
@Suite struct BenchTests {
    private struct Figures: Decodable {
        struct Ceiling: Decodable { let push_single, push_batch, claim_finish_batch: Int }
        struct Unique: Decodable { let new, drop, replace: Int }
        struct Latencies: Decodable { let p50, p95, p99, max: Double }
        struct OneCall: Decodable { let push_batch, claim_finish_batch: Int }
        struct Long: Decodable { let drain, worker_rss_bytes: Int }
        struct Workflows: Decodable {
            struct Calls: Decodable { let usual, join, fork, death: Double }
            let usual, join, fork, death: Int
            let longest_call_ms: Calls
        }
        struct Groups: Decodable {
            let few, many, one_at_once: Int
            let server_us_per_job: Double
        }

        let jobs, runs, push_awaited, push_concurrent, push_bulk, drain, drain_async, mixed: Int
        let bytes_per_waiting_job, worker_rss_bytes: Int
        let commands_per_job, server_us_per_job, idle_commands_per_s: Double
        let ceiling: Ceiling
        let unique: Unique
        let pickup_ms, pickup_200_idle_ms: Latencies
        let ceiling_one_call: OneCall
        let long_drain: Long
        let groups: Groups
        let workflows: Workflows
        let settings: [String: String]
    }

    @Test(.timeLimit(.minutes(10)))
    func measuresEverythingAndLeavesNothing() async throws {
        let bench = try Program("errand", ["bench", "--jobs", "1000", "--runs", "1", "--probes", "10", "--json"])
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
        let groups = figures.groups
        #expect(groups.few > 0 && groups.many > 0 && groups.one_at_once > 0 && groups.server_us_per_job > 0)
        let flows = figures.workflows
        #expect([flows.usual, flows.join, flows.fork, flows.death].allSatisfy { $0 > 0 })
        let calls = flows.longest_call_ms
        #expect([calls.usual, calls.join, calls.fork, calls.death].allSatisfy { $0 > 0 })
        #expect(figures.long_drain.drain > 0 && figures.long_drain.worker_rss_bytes > 1_000_000)
        // The highest rate of several ways, of which this is one.
        let oneCall = figures.ceiling_one_call
        #expect(oneCall.push_batch > 0 && oneCall.push_batch <= figures.ceiling.push_batch)
        #expect(oneCall.claim_finish_batch > 0 && oneCall.claim_finish_batch <= figures.ceiling.claim_finish_batch)
        let settings = [
            "appendonly": "yes", "appendfsync": "everysec", "save": "\"\"", "maxmemory-policy": "noeviction",
        ]
        #expect(settings.allSatisfy { figures.settings[$0.key] == $0.value }, "\(figures.settings)")
        for name in ["server", "server runs on", "hiredis", "swift", "kernel", "processors", "runs", "build"] {
            #expect(![nil, "", "unknown"].contains(figures.settings[name]), "\(name) of \(figures.settings)")
        }
    }

    /// Also with a user that has only the permissions that Errand needs.
    @Test(arguments: [false, true])
    func leavesAServerOfOthersAsItWas(restricted: Bool) async throws {
        let server = try RedisServer()
        try server.run("HSET", "errand:{bench-mine-0}:body", "id", "kept")
        try server.run("SADD", "errand:queues", "bench-mine-0")
        let url = restricted ? server.url : server.shownURL
        let bench = try Program(
            "errand",
            [
                "bench", "--jobs", "1000", "--runs", "1", "--only", "drain", "--only", "unique", "--only", "workflows",
                "--redis", url,
            ]
        )
        #expect(try await bench.end(within: .seconds(300)) == 0, "\(bench.lines)")
        #expect(bench.lines.contains { $0.contains("drain, handlers that do nothing") }, "\(bench.lines)")
        // How long calls take is only asked on a server of its own, because that needs other settings.
        #expect(bench.lines.contains { $0.contains("workflows of 50 jobs") }, "\(bench.lines)")
        #expect(!bench.lines.contains { $0.contains("longest call") }, "\(bench.lines)")
        #expect(try server.run("CONFIG", "GET", "slowlog-max-len").hasSuffix("128"))
        let keys = try server.run("KEYS", "*").split(separator: "\n").sorted()
        #expect(keys == ["errand:queues", "errand:{bench-mine-0}:body"])
        #expect(try server.run("SMEMBERS", "errand:queues") == "bench-mine-0")
    }

    /// A queue is removed before the next measurement, not only at the end; the requested number of workers drains it.
    @Test(.timeLimit(.minutes(5)))
    func tidiesUpBetweenMeasurements() async throws {
        let server = try RedisServer()
        let bench = try Program(
            "errand",
            [
                "bench", "--jobs", "1000", "--runs", "5", "--only", "mixed", "--only", "drain", "--workers", "3",
                "--redis", server.shownURL,
            ]
        )
        var most = 0
        var workers = 0
        while bench.isRunning {
            let queues = try server.run("KEYS", "errand:{bench-*}:runtime").split(separator: "\n")
            most = max(most, queues.count)
            for queue in queues {
                let sessions = try server.run("ZCARD", String(queue.dropLast("runtime".count)) + "sessions")
                workers = max(workers, Int(sessions) ?? 0)
            }
            try await Task.sleep(for: .milliseconds(10))
        }
        #expect(try await bench.end() == 0, "\(bench.lines)")
        #expect(most == 1 && workers == 3)
        #expect(bench.lines.contains("worker processes that drain: 3"), "\(bench.lines)")
    }

    private struct Comparison: Decodable {
        struct Figure: Decodable {
            let ours, theirs, ratio: Double
            let interval: [Double]?
        }
        let pairs: Int
        let against: String
        let figures: [String: Figure]
    }

    @Test(.timeLimit(.minutes(5)), arguments: [2, 6])
    func comparesWithAnotherBuild(pairs: Int) async throws {
        let other = Program.path(of: "errand")
        let bench = try Program(
            "errand",
            [
                "bench", "--jobs", "1000", "--only", "mixed", "--runs", "\(pairs)", "--against", other, "--json",
            ]
        )
        #expect(try await bench.end(within: .seconds(240)) == 0, "\(bench.lines)")
        let line = try #require(bench.lines.last { $0.hasPrefix("{") })
        let comparison = try JSONDecoder().decode(Comparison.self, from: Data(line.utf8))
        #expect(comparison.pairs == pairs && comparison.against == other)
        let figure = try #require(comparison.figures["mixed"])
        #expect(figure.ours > 0 && figure.theirs > 0 && figure.ratio > 0)
        // With fewer than six pairs, no interval is certain enough.
        #expect((figure.interval != nil) == (pairs == 6))
        if let interval = figure.interval { #expect(interval[0] <= figure.ratio && figure.ratio <= interval[1]) }
    }

    @Test func saysWhyAnotherBuildMeasuresNothing() async throws {
        for (other, reason) in [
            ("/nowhere/errand", "/nowhere/errand is not an executable file"), ("/bin/false", "ended with status 1"),
        ] {
            let bench = try Program("errand", ["bench", "--jobs", "1000", "--only", "mixed", "--against", other])
            #expect(try await bench.end(within: .seconds(60)) == 1, "\(bench.lines)")
            #expect(bench.lines.contains { $0.contains(reason) }, "\(bench.lines)")
        }
    }

    @Test func wantsTheCeilingsJobsToBeTaken() async throws {
        let server = try RedisServer()
        // Too little memory for the jobs of one measurement.
        try server.run("CONFIG", "SET", "maxmemory", "3mb")
        let bench = try Program(
            "errand",
            ["bench", "--jobs", "100000", "--runs", "1", "--only", "push", "--redis", server.shownURL]
        )
        #expect(try await bench.end(within: .seconds(300)) == 1, "\(bench.lines)")
        #expect(bench.lines.contains { $0.contains("the ceiling counts for nothing") }, "\(bench.lines)")
    }

    private struct Growth: Decodable {
        struct Point: Decodable {
            let axis: String
            let value, runs: Int
            let bytes_per_waiting_job: Int?
            let push_us, drain_us, server_us, idle_commands_per_s: Double?
            let spread: [String: [Double]]
        }
        let growth: [Point]

        func points(of axis: String) -> [Point] { growth.filter { $0.axis == axis } }
    }

    private static func growth(of bench: Program) throws -> Growth {
        let line = try #require(bench.lines.last { $0.hasPrefix("{") })
        return try JSONDecoder().decode(Growth.self, from: Data(line.utf8))
    }

    @Test(.timeLimit(.minutes(10)))
    func drawsHowCostsGrow() async throws {
        let plot = NSTemporaryDirectory() + "growth-\(UInt32.random(in: 0 ... .max)).svg"
        defer { try? FileManager.default.removeItem(atPath: plot) }
        let size = ["--jobs", "1000", "--most-waiting", "10000", "--runs", "1"]
        let bench = try Program("errand", ["bench", "--growth", "--plot", plot, "--json"] + size)
        #expect(try await bench.end(within: .seconds(540)) == 0, "\(bench.lines)")
        let growth = try Self.growth(of: bench)
        #expect(growth.points(of: "waiting").map(\.value) == [10_000])
        #expect(growth.points(of: "bodies").map(\.value) == [100, 1024, 10_240, 102_400])
        for point in growth.growth {
            #expect(point.runs == 1 && (point.drain_us ?? 0) > 0 && (point.server_us ?? 0) > 0, "\(point)")
            #expect((point.push_us ?? 0 > 0) == (point.axis != "workers"), "\(point)")
            let isIdling = ["workers", "queues"].contains(point.axis)
            #expect((point.idle_commands_per_s ?? 0 > 0) == isIdling, "\(point)")
        }
        let largest = growth.growth.last?.bytes_per_waiting_job ?? 0
        #expect((100_000...200_000).contains(largest), "\(growth)")
        let drawn = try String(contentsOfFile: plot, encoding: .utf8)
        #expect(XMLParser(data: Data(drawn.utf8)).parse(), "\(drawn)")
        #expect(drawn.split(separator: "µs a job by").count == 5, "one panel an axis")
        #expect(drawn.split(separator: "commands a second while idle, by").count == 3)
    }

    @Test func reportsTheSpreadOfSeveralRuns() async throws {
        let words = ["--axis", "bodies", "--jobs", "1000", "--runs", "2", "--json"]
        let bench = try Program("errand", ["bench", "--growth"] + words)
        #expect(try await bench.end(within: .seconds(300)) == 0, "\(bench.lines)")
        let growth = try Self.growth(of: bench)
        #expect(growth.growth.map(\.axis) == ["bodies", "bodies", "bodies", "bodies"])
        for point in growth.growth {
            let median = try #require(point.push_us)
            let ends = try #require(point.spread["push_us"])
            #expect(point.runs == 2 && ends.count == 2)
            #expect(ends == ends.sorted() && median >= ends[0] && median <= ends[1], "\(point)")
        }
    }

    @Test func rejectsAnEmptyPlot() async throws {
        let bench = try Program("errand", ["bench", "--plot", "growth.svg"])
        #expect(try await bench.end(within: .seconds(300)) == 64)
        #expect(bench.lines.contains { $0.contains("--plot goes with --growth") }, "\(bench.lines)")
    }
}
