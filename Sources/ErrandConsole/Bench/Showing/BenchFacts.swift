import Errand
import ErrandCommandLine
import ErrandOperator
import ErrandRedis
import Foundation

/// What the figures depend on.
struct BenchFacts {
    private let facts: [(name: String, value: String)]

    /// Asks the server, the machine and this program.
    static func gather(_ stage: BenchStage) async throws -> BenchFacts {
        let info = try await stage.info()
        // As it is stored: with its id, its queue and what the scripts read, in front of which the time stands.
        let job = try stage.job(BenchOperations.noop, on: "bench-0-0")
        let stored = try job.settled().stored(readySince: 0).count
        let persistence =
            info["aof_enabled"] == "1" ? "appendonly" : "no appendonly"
        return BenchFacts(facts: [
            ("broker", "\(stage.broker.address)"),
            ("redis", info["redis_version"] ?? "unknown"),
            ("persistence", persistence),
            ("system", ProcessInfo.processInfo.operatingSystemVersionString),
            ("processors", "\(ProcessInfo.processInfo.activeProcessorCount)"),
            ("jobs a measurement", "\(stage.jobs)"),
            ("bytes a job", "\(job.arguments.description.utf8.count) of arguments, \(stored) stored"),
            ("jobs a worker runs at once", "\(stage.concurrency)"),
            ("build", Self.build),
        ])
    }

    private static var build: String {
        #if DEBUG
            "debug: the figures mean nothing"
        #else
            "release"
        #endif
    }

    var lines: [String] { facts.map { "\($0.name): \($0.value)" } }

    var json: JSONOutput { .object(facts.map { (key: $0.name, value: .text($0.value)) }) }
}
