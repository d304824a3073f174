import Errand
import ErrandCommandLine
import ErrandOperator
import ErrandRedis
import Foundation

/// The facts that the figures depend on.
struct BenchFacts {
    private let facts: [(name: String, value: String)]

    /// Collects facts about the server, the machine and this program.
    static func gather(_ stage: BenchStage, runs: BenchRuns) async throws -> BenchFacts {
        let facts = try await server(of: stage) + program + work(of: stage, runs)
        return BenchFacts(facts: facts)
    }

    private static func server(of stage: BenchStage) async throws -> [(name: String, value: String)] {
        let servers = try await stage.info()
        var facts = [
            (name: "broker", value: "\(stage.broker.address)"), (name: "servers", value: "\(servers.count)"),
            (name: "server", value: servers.first?.engine ?? "unknown"),
            (name: "server runs on", value: servers.first?["os"] ?? "unknown"),
        ]
        for name in ["appendonly", "appendfsync", "save", "maxmemory", "maxmemory-policy", "io-threads"] {
            facts.append((name: name, value: try await setting(name, of: stage)))
        }
        return facts
    }

    /// Returns a setting of the server, or a text if the server does not reveal it.
    private static func setting(_ name: String, of stage: BenchStage) async throws -> String {
        do throws(BrokerError) {
            let answer = try await stage.broker.command(.command("CONFIG", "GET", name), for: .anywhere).elements ?? []
            guard answer.count == 2, let value = answer[1].text else { return "unknown" }
            return value.isEmpty ? "\"\"" : value.onOneLine(atMost: 100)
        } catch {
            guard [.notPermitted, .refused].contains(error.code) else { throw error }
            return "unknown: CONFIG GET is not permitted"
        }
    }

    private static var program: [(name: String, value: String)] {
        [
            ("hiredis", HiredisVersion.text), ("swift", ProgramFacts.swift), ("build", ProgramFacts.build),
            ("system", ProcessInfo.processInfo.operatingSystemVersionString), ("kernel", ProgramFacts.kernel),
            ("processors", "\(ProcessInfo.processInfo.activeProcessorCount)"),
        ]
    }

    private static func work(of stage: BenchStage, _ runs: BenchRuns) throws -> [(name: String, value: String)] {
        let job = try stage.job(BenchOperations.noop, on: stage.queue())
        // The stored form has the id, the queue, the header for the scripts, and the time.
        let stored = try job.makeEnvelope().stored(readySince: 0).count
        return [
            ("runs", "\(runs)"), ("jobs a measurement", "\(stage.jobs)"),
            ("bytes a job", "\(job.arguments.description.utf8.count) of arguments, \(stored) stored"),
            ("worker processes that drain", "\(stage.workers)"),
            ("jobs a worker runs at once", "\(stage.concurrency)"), ("pick-ups a run", "\(stage.probes)"),
        ]
    }

    var lines: [String] { facts.map { "\($0.name): \($0.value)" } }

    var json: JSONOutput { .object(facts.map { (key: $0.name, value: .text($0.value)) }) }
}
