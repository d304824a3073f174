import Errand
import ErrandRedis
import Logging
import TestSupport
import Testing

@Suite struct ConsoleStatisticsTests {
    private let server: RedisServer

    init() throws { server = try RedisServer() }

    @Test func showsOutcomesAndTimesByOperation() async throws {
        let broker = try RedisBroker(url: server.url, logger: Logger(label: "statistics"))
        defer { broker.close() }
        _ = try await Executable.producer.run(["push", "work", "--queue", "images"], on: server)
        let empty = try await Executable.console.run(["statistics"], on: server)
        #expect(empty.status == 0 && empty.text == "no runs in the last 1 h\n")
        try await broker.record(["work": RunStatistics(cells: "0=99 1=1 4=1 103=100 317=100")], on: "images")
        let table = try await Executable.console.run(["statistics", "--last", "24h"], on: server)
        #expect(table.text.contains("QUEUE") && table.text.contains("WAIT p95") && table.text.contains("RUN p99"))
        let row = try #require(table.text.split(separator: "\n").last)
        #expect(row.hasPrefix("images") && row.contains("work") && row.contains(" 99 "), "\(row)")
        let json = try await Executable.console.run(["statistics", "--json"], on: server).text
        let counts = #""finished":99,"failed":1,"timed_out":0,"cancelled":0,"dead":1,"#
        #expect(
            json.hasPrefix(#"{"last":"1h","operations":[{"queue":"images","operation":"work",\#(counts)"wait_ms":{"#)
        )
        #expect(json.contains(#""run_ms":{"p50":18,"p95":19.80,"p99":19.96,"mean":"#), "\(json)")
        #expect(try await Executable.console.run(["statistics", "--last", "3d"], on: server).status == 64)
        #expect(try await Executable.console.run(["statistics", "--queue", "imges"], on: server).status == 1)
    }
}
