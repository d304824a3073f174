import Foundation
import TestSupport
import Testing

/// The file of `errand-producer push --metrics-file`.
@Suite struct ProducerMetricsTests {
    private let server: RedisServer
    private let path: String

    init() throws {
        server = try RedisServer()
        path = server.directory + "/nightly.prom"
    }

    private var samples: Set<String> {
        get throws { Set(try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map(String.init)) }
    }

    private func sample(_ status: String, _ count: Int, queue: String = "default") -> String {
        #"errand_jobs_pushed_total{producer="nightly",name="work",queue="\#(queue)",status="\#(status)"} \#(count)"#
    }

    private func push(_ arguments: String..., lines: String = "") async throws -> Output {
        try await Executable.producer.run(["push"] + arguments + ["--metrics-file", path], on: server, input: lines)
    }

    @Test func itCountsTheReceiptsOfLines() async throws {
        let line = #"{"operation":"work","name":"n","unique":"drop"}"# + "\n"
        let output = try await push(
            "--from",
            "-",
            lines: line + line + "{}\n" + line + #"{"operation":"work","queue":"images"}"#
        )
        #expect(output.status == 65, "a bad line is refused with it as well")
        let samples = try samples
        #expect(samples.contains(sample("accepted", 1)), "\(samples)")
        #expect(samples.contains(sample("dropped", 2)), "\(samples)")
        #expect(samples.contains(sample("accepted", 1, queue: "images")), "\(samples)")
    }

    @Test func itCountsOneJob() async throws {
        #expect(try await push("work", "--id", "one").status == 0)
        #expect(try samples.contains(sample("accepted", 1)))
        #expect(try await push("work", "--id", "one").status == 0)
        #expect(try samples.contains(sample("exists", 1)))
    }

    @Test func aLongPushIsCountedMeanwhile() async throws {
        let running = try RunningExecutable(
            .producer,
            ["push", "--from", "-", "--metrics-file", path],
            environment: ["ERRAND_REDIS_URL": server.url]
        )
        running.write(Array((#"{"operation":"work"}"# + "\n").utf8))
        try await eventually("the file tells of the job", within: .seconds(100)) {
            (try? samples.contains(sample("accepted", 1))) == true
        }
        #expect(!running.hasEnded)
        running.closeInput()
        #expect(await running.end().status == 0)
    }

    @Test func anUnwritableFileIsReportedBeforeAnythingIsPushed() async throws {
        let nowhere = server.directory + "/nowhere/nightly.prom"
        let output = try await Executable.producer.run(["push", "work", "--metrics-file", nowhere], on: server)
        #expect(output.status == 78)
        #expect(output.error.contains("cannot write the metrics to"))
        #expect(try server.run("DBSIZE") == "0")
    }

    @Test func aSpecialFileIsNotReplaced() async throws {
        let link = server.directory + "/link.prom"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "/dev/null")
        for path in [link, "/dev/null", server.directory] {
            let output = try await Executable.producer.run(["push", "work", "--metrics-file", path], on: server)
            #expect(output.status == 78)
            #expect(output.error.contains("it is not a file"), "\(output.error)")
        }
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "/dev/null")
    }
}
