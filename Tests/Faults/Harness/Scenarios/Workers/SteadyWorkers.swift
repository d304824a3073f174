import Errand
import ErrandRedis
import Foundation
import TestSupport

/// Workers that run for long enough to detect growing memory.
extension Scenario {
    static let steadyWorkers = [
        Scenario(
            "SOAK",
            "memory of a worker stays flat while jobs succeed, fail and wait, and connections end",
            limit: .seconds(240)
        ) { context in
            // A child's lines contain its own process id, and jobs that were claimed together have one token.
            context.rules { $0.mayReuseTokens = true }
            let server = try context.server(tcp: true)
            let library = try await context.worker {
                $0.url = server.tcpURL
                $0.concurrency = 16
                // As recommended for custom workers (docs/reliability.md); the shipped one does so by itself.
                $0.environment["MALLOC_ARENA_MAX"] = "2"
            }
            let shipped = try shippedWorker(context, server)
            let loads = [
                context.load(rate: context.size(quick: 300, full: 1000)),
                context.load(rate: 20, "failonce") { $0.retries = 1 },
                context.load(rate: 50, "note") {
                    $0.milliseconds = 100
                    $0.timeout = .seconds(5)
                },
                context.load(rate: 10, "child") { $0.queue = children },
            ]
            let curves = [MemoryCurve("library", library), MemoryCurve("shipped", shipped)]
            try await watch(context, server, curves)
            for load in loads { try await load.stop() }
            for curve in curves { curve.judge(context) }
            context.expectAlive([library, shipped])
            try await context.drain(children)
            shipped.signal(SIGTERM)
            context.expect(try await shipped.end() == 0, "the shipped worker did not leave: \(shipped.lines.suffix(3))")
        }
    ]

    private static let children = "children"

    /// Ten minutes in the full profile; `MemoryCurve` divides the time into ten parts.
    private static func watch(_ context: ScenarioContext, _ server: RedisServer, _ curves: [MemoryCurve]) async throws {
        let length = Duration.seconds(context.size(quick: 60, full: 600))
        let samples = 200
        for number in 1...samples {
            try await Task.sleep(for: length / samples)
            for curve in curves { try curve.sample() }
            guard number.isMultiple(of: 10) else { continue }
            let killed = try server.run("CLIENT", "KILL", "TYPE", number % 20 == 0 ? "normal" : "pubsub")
            context.injected(Int(killed) ?? 0)
        }
    }

    /// The executable, with a catalogue whose operation is a child process that writes to the ledger.
    private static func shippedWorker(_ context: ScenarioContext, _ server: RedisServer) throws -> Program {
        let script = context.directory + "/child.sh"
        let line = #""$1 $ERRAND_JOB_ID $ERRAND_TOKEN $(date +%s%3N) $$ $ERRAND_ATTEMPT .""#
        try "note() { echo \(line) >> \(context.ledger.path); }\nnote begin\nnote end\n"
            .write(toFile: script, atomically: true, encoding: .utf8)
        let catalogue = context.directory + "/children.yaml"
        try "operations:\n  child: {run: [sh, \"\(script)\"], queue: \(children)}\n"
            .write(toFile: catalogue, atomically: true, encoding: .utf8)
        return try context.command(
            "errand-worker",
            ["--catalogue", catalogue, "--queue", children, "--redis", server.tcpURL, "--lease", "2s"]
        )
    }
}
