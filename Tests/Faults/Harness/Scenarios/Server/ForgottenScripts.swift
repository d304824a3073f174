import Errand
import Foundation
import TestSupport

/// Servers that forget the scripts.
extension Scenario {
    static let forgottenScripts = [
        Scenario("F48", "the scripts are flushed every 50 ms, also amid pipelines", quick: true) { play in
            play.rules {
                $0.forbidsGrace = true
                $0.forbidsDuplicates = true
            }
            let server = try play.server()
            let workers = try await play.workers(2)
            let loads = try (0..<3).map { _ in play.load(rate: 60, via: try play.connect(server.url)) }
            for _ in 0..<play.size(quick: 100, full: 1200) {
                try await Task.sleep(for: .milliseconds(50))
                try server.run("SCRIPT", "FLUSH")
            }
            play.struck(try server.errors("NOSCRIPT"))
            try await play.carries(loads[0], within: .seconds(5))
            for load in loads { try await load.stop() }
            try await play.expectEveryoneIsBusy(workers)
            play.expect(workers.allSatisfy { play.sessions(of: $0).count == 1 }, "a session was lost")
        }
    ]
}
