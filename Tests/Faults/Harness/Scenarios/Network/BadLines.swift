import Errand
import Foundation
import TestSupport

/// Lines that are slow, and that lose packets.
extension Scenario {
    static let badLines = [
        Scenario(
            "F26",
            "of all packets 5 % are lost, on a line of 256 kbit/s",
            quick: true,
            alone: true,
            needs: [.networkNamespaces]
        ) { context in
            // The last call of one who leaves may be lost on such a line as well. Its session, which holds nothing, then ends with its lease.
            context.rules { $0.toleratedKeys = ["session", "idle"] }
            let network = try NetworkNamespace(context)
            let server = try network.server(context)
            try network.run("tc qdisc add dev lo root tbf rate 256kbit burst 10k latency 400ms")
            try network.drop("-p tcp -m statistic --mode random --probability 0.05")
            let workers = try await work(context) {
                $0.url = server.tcpURL
                $0.prefix = network.prefix
            }
            context.injected(try network.heal())
            // After that, so that no connection still waits for what was lost when they are to leave.
            try await context.expectEveryoneIsBusy(workers)
        },
        Scenario("F26b", "answers are 200 to 300 ms under way, each way, and 5 % come later still") {
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

    /// Nobody loses a session, and no job is run twice, only because the line is bad.
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
        }
        try await Task.sleep(for: .seconds(context.size(quick: 8, full: 120)))
        try await load.stop()
        try await context.recovers("all is done", within: .seconds(30)) { try await context.status().isEmpty }
        context.expect(workers.allSatisfy { context.sessions(of: $0).count == 1 }, "a session was lost")
        let totals = try await context.totals()
        context.expect(totals["recovered"] == 0, "\(totals["recovered"]) jobs were taken back")
        return workers
    }
}
