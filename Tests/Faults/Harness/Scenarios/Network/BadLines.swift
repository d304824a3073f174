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
        ) { play in
            // The last call of one who leaves may be lost on such a line as well. Its session, which holds nothing, then ends with its lease.
            play.rules { $0.toleratedKeys = ["session", "idle"] }
            let network = try NetworkNamespace(play)
            let server = try network.server(play)
            try network.run("tc qdisc add dev lo root tbf rate 256kbit burst 10k latency 400ms")
            try network.drop("-p tcp -m statistic --mode random --probability 0.05")
            let workers = try await work(play) {
                $0.url = server.tcpURL
                $0.prefix = network.prefix
            }
            play.struck(try network.heal())
            // After that, so that no connection still waits for what was lost when they are to leave.
            try await play.expectEveryoneIsBusy(workers)
        },
        Scenario("F26b", "answers are 200 to 300 ms under way, each way, and 5 % come later still") {
            play in
            let proxy = try play.proxy(play.server())
            proxy.weather {
                $0.latency = .milliseconds(200)
                $0.jitter = .milliseconds(100)
                $0.loss = 0.05
            }
            let workers = try await work(play) { $0.url = proxy.url }
            try await play.expectEveryoneIsBusy(workers, within: .seconds(30))
            play.struck(proxy.stalls)
        },
    ]

    /// Nobody loses a session, and no job is run twice, only because the line is bad.
    private static func work(_ play: Play, _ change: (inout WorkerOptions) -> Void) async throws -> [Program] {
        play.rules {
            $0.forbidsDuplicates = true
            $0.forbidsOverlaps = true
        }
        let workers = try await play.workers(2) {
            change(&$0)
            $0.lease = 6000
        }
        let load = play.load(rate: 5, "nap") {
            $0.milliseconds = 20
            $0.pad = 500
        }
        try await Task.sleep(for: .seconds(play.size(quick: 8, full: 120)))
        try await load.stop()
        try await play.recovers("all is done", within: .seconds(30)) { try await play.status().isEmpty }
        play.expect(workers.allSatisfy { play.sessions(of: $0).count == 1 }, "a session was lost")
        let totals = try await play.totals()
        play.expect(totals["recovered"] == 0, "\(totals["recovered"]) jobs were taken back")
        return workers
    }
}
