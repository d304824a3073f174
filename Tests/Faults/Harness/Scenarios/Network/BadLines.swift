import Errand
import Foundation
import TestSupport

/// Slow connections, and connections that lose packets.
extension Scenario {
    static let badLines = [
        Scenario(
            "F26",
            "5 % of all packets are lost, at 256 kbit/s",
            quick: true,
            alone: true,
            needs: [.networkNamespaces]
        ) { context in
            // The last call of a worker that stops may be lost, too. Its session without claims then ends with its
            // lease.
            context.rules { $0.toleratedKeys = ["session", "idle"] }
            let network = try NetworkNamespace(context)
            let server = try network.server(context)
            // So long a queue that it drops nothing itself.
            try network.run("tc qdisc add dev lo root tbf rate 256kbit burst 10k latency 2s")
            try network.drop("-p tcp -m statistic --mode random --probability 0.05")
            let workers = try await work(context) {
                $0.url = server.tcpURL
                $0.prefix = network.prefix
            }
            context.injected(try network.heal())
            // Afterwards, so that no connection still waits for a lost reply when they stop.
            try await context.expectEveryoneIsBusy(workers)
        },
        Scenario("F26b", "a delay of 200 to 300 ms in each direction, and more for 5 % of the packets") {
            context in
            let proxy = try context.proxy(context.server())
            proxy.weather {
                $0.latency = .milliseconds(200)
                $0.jitter = .milliseconds(100)
                $0.loss = 0.05
            }
            let workers = try await work(context) { $0.url = proxy.url }
            try await context.expectEveryoneIsBusy(workers, within: .seconds(30))
            context.injected(proxy.stalls)
        },
    ]

    /// Checks that a bad connection alone costs no session and causes no second run.
    private static func work(
        _ context: ScenarioContext,
        _ change: (inout WorkerOptions) -> Void
    ) async throws -> [Program] {
        context.rules {
            $0.forbidsDuplicates = true
            $0.forbidsOverlaps = true
        }
        let workers = try await context.workers(2) {
            change(&$0)
            $0.lease = 6000
        }
        let load = context.load(rate: 5, "nap") {
            $0.milliseconds = 20
            $0.pad = 500
            // A connection that waits for packets again and again may be silent for longer than a claim of ten seconds lasts.
            $0.timeout = .seconds(60)
        }
        try await Task.sleep(for: .seconds(context.size(quick: 8, full: 120)))
        try await load.stop()
        try await context.recovers("all is done", within: .seconds(60)) { try await context.status().isEmpty }
        context.expect(workers.allSatisfy { context.sessions(of: $0).count == 1 }, "a session was lost")
        let totals = try await context.totals()
        context.expect(totals["recovered"] == 0, "\(totals["recovered"]) jobs were recovered")
        return workers
    }
}
