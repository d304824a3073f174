import Errand
import Foundation
import TestSupport

/// Servers that die and restart with the data on their disk.
extension Scenario {
    static let restarts = [
        Scenario("F36", "the server is killed and restarted, with an append-only file", quick: true) { context in
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
            // Every second time while it has certainly not replied to all requests.
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
        context.expectInjection(context.accounts.lostAnswers > 0, "no answer of a push was lost")
        context.expectInjection(context.accounts.refusals > 0, "every push found a server")
    }
}
