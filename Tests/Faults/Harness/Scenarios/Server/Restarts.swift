import Errand
import Foundation
import TestSupport

/// Servers that die and come back with what they had on disk.
extension Scenario {
    static let restarts = [
        Scenario("F36", "the server is killed and started again, with an append-only file", quick: true) { context in
            try await restarts(
                context,
                ["--appendonly", "yes", "--appendfsync", "everysec"],
                rounds: context.size(quick: 4, full: 50)
            )
        },
        Scenario("F37", "the same, and every write is synced") { context in
            try await restarts(
                context,
                ["--appendonly", "yes", "--appendfsync", "always"],
                rounds: context.size(quick: 4, full: 20)
            )
        },
    ]

    private static func restarts(_ context: ScenarioContext, _ settings: [String], rounds: Int) async throws {
        let server = try context.server(tcp: true, settings)
        let workers = try await context.workers(2) { $0.url = server.tcpURL }
        let producer = try context.connect(server.tcpURL, patience: .milliseconds(200))
        let load = context.load(rate: 100, via: producer)
        for round in 0..<rounds {
            try await Task.sleep(for: .milliseconds(context.random(300...1200)))
            // Every second time at a moment at which it has surely received requests that it has not answered.
            if round % 2 == 0 {
                server.kill(SIGSTOP)
                try await Task.sleep(for: .milliseconds(150))
            }
            server.kill(SIGKILL)
            try await Task.sleep(for: .milliseconds(round == 0 ? 1000 : context.random(0...600)))
            try server.start()
            context.injected()
            try await context.carries(load, within: .seconds(5))
        }
        try await load.stop()
        try await context.expectEveryoneIsBusy(workers)
        context.expectStrike(context.accounts.lostAnswers > 0, "no answer of a push was lost")
        context.expectStrike(context.accounts.refusals > 0, "no push found nobody")
    }
}
