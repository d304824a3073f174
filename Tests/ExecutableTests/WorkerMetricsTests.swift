import Errand
import ErrandRedis
import Foundation
import Logging
import TestSupport
import Testing

/// The file of `errand-worker --metrics-file`.
@Suite struct WorkerMetricsTests {
    private let server: RedisServer
    private let catalogue: String

    init() throws {
        server = try RedisServer()
        catalogue = server.directory + "/catalogue.yaml"
        let text = """
            operations:
              note: {run: ["true"]}
              fail: {run: ["false"], retries: 0}
            """
        try text.write(toFile: catalogue, atomically: true, encoding: .utf8)
    }

    private func worker(metrics path: String) throws -> Program {
        try Program("errand-worker", ["--catalogue", catalogue, "--redis", server.url, "--metrics-file", path])
    }

    @Test func itCountsAndTimesRuns() async throws {
        let broker = RedisBroker(try RedisAddress(url: server.url), logger: Logger(label: "test"))
        defer { broker.close() }
        let path = server.directory + "/images-1.prom"
        let worker = try worker(metrics: path)
        defer { worker.signal(SIGKILL) }
        let jobs = try ["note", "note", "fail"].map { try OperationDescription($0) }
        _ = try await Producer(broker: broker).push(contentsOf: jobs)
        try await eventually("all have ended: \(worker.lines)") {
            let totals = try await broker.status(of: "default").queue.totals
            return totals["finished"] == 2 && totals["failed"] == 1
        }
        worker.signal(SIGTERM)
        #expect(try await worker.end() == 0)
        let lines = Set(try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map(String.init))
        for (sample, value) in [
            (#"errand_jobs_total{worker="images-1",name="note",queue="default",status="succeeded"}"#, "2"),
            (#"errand_jobs_total{worker="images-1",name="fail",queue="default",status="failed"}"#, "1"),
            (#"errand_jobs_processing{worker="images-1",name="note",queue="default"}"#, "0"),
            (
                #"errand_jobs_duration_seconds_count{worker="images-1",name="note",queue="default",status="succeeded"}"#,
                "2"
            ),
            (
                #"errand_jobs_queued_duration_seconds_bucket{worker="images-1",name="note",queue="default",le="+Inf"}"#,
                "2"
            ),
            (
                #"errand_jobs_queued_duration_seconds_bucket{worker="images-1",name="note",queue="default",le="3600"}"#,
                "2"
            ),
        ] {
            #expect(lines.contains("\(sample) \(value)"), "\(sample) is missing in \(lines.sorted())")
        }
        #expect(lines.contains("# TYPE errand_jobs_total counter"))
        #expect(lines.contains("# TYPE errand_jobs_duration_seconds histogram"))
        let modes = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect((modes ?? 0) & 0o044 != 0, "others cannot read it: \(modes.map { String($0, radix: 8) } ?? "?")")
        let others = try FileManager.default.contentsOfDirectory(atPath: server.directory).filter {
            $0.contains("prom")
        }
        #expect(others == ["images-1.prom"])
    }

    @Test func anUnwritableFileIsReportedAtOnce() async throws {
        let worker = try worker(metrics: server.directory + "/nowhere/images.prom")
        #expect(try await worker.end() == 78)
        #expect(worker.lines.contains { $0.contains("cannot write the metrics to") }, "\(worker.lines)")
    }
}
