import ErrandRedis
import Foundation
import TestSupport

/// A producer in another language: a client of a cluster that follows MOVED and ASK by itself.
struct ForeignProducer {
    private let context: ScenarioContext
    private let program: Program
    private let end: String

    /// Starts to push at a steady rate.
    ///
    /// - Parameter rate: Jobs a second.
    init(_ context: ScenarioContext, _ cluster: RedisCluster, rate: Int) throws {
        self.context = context
        let script = context.directory + "/push.lua"
        let push = Script.all.first { $0.name == "push" }?.sharded
        try Data(push?.text ?? []).write(to: URL(fileURLWithPath: script))
        let tool = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("foreign.py")
        end = context.directory + "/end"
        program = try context.program(
            "/usr/bin/env",
            [
                "python3", tool.path, cluster.masters.map { "\($0.port)" }.joined(separator: ","),
                cluster.masters[0].credentials, script, end, ScenarioContext.queue, "mark", String(rate),
            ]
        )
    }

    /// The jobs that were accepted.
    var accepted: [String] {
        program.lines.compactMap { line in
            let words = line.split(separator: " ").map(String.init)
            return words.count == 3 && words[2] == "a" ? words[1] : nil
        }
    }

    /// Stops pushing, and adds what was accepted to the accounts.
    func stop() async throws {
        try Data().write(to: URL(fileURLWithPath: end))
        context.expect(try await program.end() == 0, "the other client failed: \(program.lines.suffix(2))")
        for id in accepted { context.accounts.adopt(id) }
    }
}
