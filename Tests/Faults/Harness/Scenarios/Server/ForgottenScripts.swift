import Errand
import Foundation
import TestSupport

/// Servers that lose the scripts.
extension Scenario {
    static let forgottenScripts = [
        Scenario("F48", "the scripts are flushed every 50 ms, also within pipelines", quick: true) { context in
            context.rules {
                $0.forbidsGrace = true
                $0.forbidsDuplicates = true
            }
            let server = try context.server()
            let workers = try await context.workers(2)
            let loads = try (0..<3).map { _ in context.load(rate: 60, via: try context.connect(server.url)) }
            for _ in 0..<context.size(quick: 100, full: 1200) {
                try await Task.sleep(for: .milliseconds(50))
                try server.run("SCRIPT", "FLUSH")
            }
            context.injected(try server.errors("NOSCRIPT"))
            try await context.carries(loads[0], within: .seconds(5))
            for load in loads { try await load.stop() }
            try await context.expectEveryoneIsBusy(workers)
            context.expect(workers.allSatisfy { context.sessions(of: $0).count == 1 }, "a session was lost")
        }
    ]
}
