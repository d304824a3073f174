import Errand
import ErrandRedis
import Foundation
import TestSupport
import Testing

/// The console on a server that cannot write to its disk and therefore rejects writes (MISCONF).
@Suite struct ConsoleFullDiskTests {
    private let server: RedisServer

    init() throws { server = try RedisServer() }

    /// Makes snapshots fail with a directory in place of the file.
    private func refuseWrites() async throws {
        let file = try server.run("CONFIG", "GET", "dbfilename").split(whereSeparator: \.isNewline).last ?? ""
        try FileManager.default.createDirectory(
            atPath: "\(server.directory)/\(file)/x",
            withIntermediateDirectories: true
        )
        try server.run("CONFIG", "SET", "stop-writes-on-bgsave-error", "yes")
        try server.run("CONFIG", "SET", "save", "3600 1000000")
        try server.run("BGSAVE")
        try await until("the snapshot has failed") {
            try server.run("INFO", "persistence").contains("rdb_last_bgsave_status:err")
        }
    }

    private func push(_ id: String) async throws {
        let line = #"{"operation":"work","id":"\#(id)"}"#
        #expect(try await Executable.producer.run(["push", "--from", "-"], on: server, input: line).status == 0)
    }

    @Test func `the doctor reports its findings and the server's problem`() async throws {
        try await push("one")
        try server.run("HDEL", "errand:{default}:body", "one")
        try await refuseWrites()
        let output = try await Executable.console.run(["doctor", "--json"], on: server)
        #expect(output.status == 1, "\(output.error)")
        let report = try output.object
        #expect(report["problem"] == .null && report["clean"] == false)
        #expect(report["findings"]?.items.isEmpty == false)
        #expect(report["advice"]?.items.contains { $0["kind"] == "persistence" } == true)
    }

    @Test func `a rejected repair still reports findings, and why nothing is repaired`() async throws {
        try await push("one")
        try server.run("HDEL", "errand:{default}:body", "one")
        try server.run("DEL", "errand:queues")
        try await refuseWrites()
        let output = try await Executable.console.run(["doctor", "--repair", "--json"], on: server)
        #expect(output.status == 69, "\(output.error)")
        let report = try output.object
        #expect(report["clean"] == false)
        let findings = report["findings"]?.items ?? []
        #expect(findings.compactMap { $0["kind"]?.string } == ["queue_unregistered", "position_without_body"])
        #expect(findings.allSatisfy { $0["repaired"] == false })
        #expect(report["problem"]?.string?.contains("cannot write its data to its disk") == true)
        #expect(report["advice"]?.items.contains { $0["kind"] == "persistence" } == true)
        #expect(output.error.contains("error: nothing was repaired: "), "\(output.error)")
        let text = try await Executable.console.run(["doctor", "--repair"], on: server)
        #expect(text.text.hasSuffix("\n2 findings, 3 pieces of advice\n"), "\(text.text)")
    }

    @Test func `a repair without findings succeeds on a server that rejects writes`() async throws {
        try await push("one")
        try await refuseWrites()
        let output = try await Executable.console.run(["doctor", "--repair", "--json"], on: server)
        #expect(output.status == 0, "\(output.error)")
        #expect(try output.object["clean"] == true)
    }

    @Test func `a replica is examined without repairs`() async throws {
        try await push("one")
        try server.run("HDEL", "errand:{default}:body", "one")
        try server.run("REPLICAOF", "127.0.0.1", "1")
        let output = try await Executable.console.run(["doctor", "--repair", "--json"], on: server)
        #expect(output.status == 69, "\(output.error)")
        let findings = try output.object["findings"]?.items ?? []
        #expect(findings.compactMap { $0["kind"]?.string } == ["position_without_body"])
        #expect(output.error.contains("nothing was repaired: ") && output.error.contains("READONLY"), "\(output.error)")
    }

    @Test func `an import counts the lines that were not pushed`() async throws {
        try await push("one")
        try await refuseWrites()
        let lines = ["b", "a", "b"].map { #"{"operation":"work","queue":"\#($0)"}"# }.joined(separator: "\n")
        let output = try await Executable.console.run(["jobs", "import", "-"], on: server, input: lines + "\n")
        #expect(output.status == 69)
        #expect(output.error.contains("\n3 not pushed\n"), "\(output.error)")
        #expect(output.error.contains("error: lines 1 to 3 not pushed: "), "\(output.error)")
        #expect(!output.error.contains("no jobs in the input"), "\(output.error)")
    }

    @Test(arguments: [["queue", "pause", "default", "--json"], ["job", "cancel", "one", "--json"]])
    func `a command that waits reports that and why on standard error`(_ command: [String]) async throws {
        try await push("one")
        try await refuseWrites()
        let running = try RunningExecutable(.console, command, environment: ["ERRAND_REDIS_URL": server.url])
        let line = try await running.errorLine { $0.contains("waiting for the broker") }
        #expect(
            line.contains("the server rejects writes, because it cannot write its data to its disk; trying again for")
        )
        let output = await running.end()
        #expect(output.status == 69)
        #expect(output.error.components(separatedBy: "waiting for the broker").count == 2, "\(output.error)")
        #expect(!output.text.contains("waiting"))
    }

    @Test func `a rejected command succeeds when there is room again`() async throws {
        try await push("one")
        // On a busy machine the room may come too late for the command, which is then repeated.
        for attempt in 1...5 {
            try await refuseWrites()
            let running = try RunningExecutable(
                .console,
                ["queue", "pause", "default"],
                environment: ["ERRAND_REDIS_URL": server.url]
            )
            _ = try await running.errorLine { $0.contains("waiting for the broker") }
            try server.run("CONFIG", "SET", "stop-writes-on-bgsave-error", "no")
            let output = await running.end()
            if output.status == 69, attempt < 5 { continue }
            #expect(output.status == 0 && output.text == "default is paused\n", "\(output.error)")
            return
        }
    }

    @Test func `the reason is printed once, in whole sentences`() async throws {
        try await push("one")
        try await refuseWrites()
        let output = try await Executable.console.run(["job", "cancel", "one"], on: server)
        #expect(output.text == "one not done: the broker failed\n")
        #expect(output.error.components(separatedBy: "MISCONF").count == 2, "\(output.error)")
        #expect(output.error.contains(". Free space") && !output.error.contains(".. "), "\(output.error)")
    }

    @Test(arguments: [["status"], ["jobs"], ["job", "show", "one"], ["schedule", "list"], ["doctor"]])
    func `a named queue is read`(_ command: [String]) async throws {
        try await push("one")
        try await refuseWrites()
        let output = try await Executable.console.run(command + ["--queue", "default"], on: server)
        #expect(output.status == 0, "\(output.error)")
        #expect(!output.error.contains("waiting"), "\(output.error)")
    }

    @Test func `a job that could not be cancelled is not reported as unknown`() async throws {
        try await push("one")
        try await refuseWrites()
        let output = try await Executable.console.run(["job", "cancel", "one", "--json"], on: server)
        #expect(output.status == 69, "\(output.error)")
        #expect(try output.object["verdict"] == "not_done")
        let shown = try await Executable.console.run(["job", "show", "one", "--json"], on: server)
        #expect(try shown.object["state"] == "ready")
    }
}
