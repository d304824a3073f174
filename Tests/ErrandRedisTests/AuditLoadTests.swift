import Errand
import Foundation
import Logging
import TestSupport
import Testing

@testable import ErrandRedis

/// Measures the cost of an audit of a million waiting jobs for a worker that runs meanwhile, and prints the figures.
@Suite(.enabled(if: ProcessInfo.processInfo.environment["ERRAND_FAULTS"] == "full")) struct AuditLoadTests {
    @Test func `a million waiting jobs are audited while a worker runs`() async throws {
        let server = try RedisServer()
        let broker = RedisBroker(try RedisAddress(url: server.url), logger: Logger(label: "load"))
        defer { broker.close() }
        try fill(server, 1_000_000, try OperationDescription("work", id: "id").makeEnvelope())
        let alone = try await churn(server) { try await Task.sleep(for: .seconds(5)) }
        try server.run("CONFIG", "SET", "slowlog-log-slower-than", "2000")
        try server.run("CONFIG", "RESETSTAT")
        try server.run("SLOWLOG", "RESET")
        let began = ContinuousClock.now
        let during = try await churn(server) {
            let findings = try await broker.audit("default", repair: false)
            #expect(findings.isEmpty, "\(findings)")
        }
        let took = (ContinuousClock.now - began) / .seconds(1)
        let slow = try server.run("SLOWLOG", "GET", "128").split(whereSeparator: \.isNewline)
        // An entry is its number, time, microseconds, words, client and name.
        let longest =
            slow.indices.filter { slow[$0] == "EVALSHA" && $0 >= 1 }.compactMap { Int(slow[$0 - 1]) }.max() ?? 0
        print(
            "audit of 1,000,000 waiting jobs: \(took) s, longest command \(longest) us (0: under 2,000),",
            "worker alone \(Int(alone)) jobs/s, with the audit \(Int(during)) jobs/s"
        )
        #expect(longest < 50_000)
        #expect(during > alone / 4)
    }

    /// Jobs of one body, written by the server itself.
    private func fill(_ server: RedisServer, _ count: Int, _ job: JobEnvelope) throws {
        let text = """
            for i = 1, tonumber(ARGV[1]) do
              redis.call('HSET', 'errand:{default}:body', 'id-' .. i, ARGV[2])
              redis.call('RPUSH', 'errand:{default}:ready:5', 'id-' .. i)
            end
            """
        let body = String(decoding: job.stored(readySince: 1_795_215_724_000), as: UTF8.self)
        try server.run("EVAL", text, "0", String(count), body)
    }

    /// Returns how many jobs a second a worker runs while `body` runs.
    private func churn(_ server: RedisServer, _ body: () async throws -> Void) async throws -> Double {
        let own = RedisBroker(try RedisAddress(url: server.url), logger: Logger(label: "churn"))
        defer { own.close() }
        let work = Task { try await FullQueue.churn(own) }
        let began = ContinuousClock.now
        try await body()
        work.cancel()
        return Double(try await work.value) / ((ContinuousClock.now - began) / .seconds(1))
    }
}
