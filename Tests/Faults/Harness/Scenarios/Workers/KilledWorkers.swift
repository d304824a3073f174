import Errand
import Foundation
import TestSupport

/// Workers that are killed.
extension Scenario {
    static let killedWorkers = [
        Scenario("F01", "workers are killed at random while they run jobs", quick: true) { play in
            try play.server()
            let workers = Crew(play, try await play.workers(3))
            let load = play.load(rate: play.size(quick: 100, full: 200), "nap") { $0.milliseconds = 50 }
            for _ in 0..<play.size(quick: 8, full: 200) {
                try await Task.sleep(for: .milliseconds(play.random(300...1500)))
                try await workers.killOne()
                play.struck()
            }
            let over = ContinuousClock.now
            try await play.carries(load, within: .seconds(8), since: over)
            try await load.stop()
            try await play.drain()
            let totals = try await play.status()
            play.expect(totals.dead == 0, "\(totals.dead) innocent jobs were set aside")
            play.expect(totals.totals["recovered"] > 0, "no kill reached a job")
        }
    ]
}

/// Workers of which one after the other is killed and started again.
final actor Crew {
    private let play: Play
    private var workers: [Program]
    private let change: @Sendable (inout WorkerOptions) -> Void

    init(_ play: Play, _ workers: [Program], _ change: @escaping @Sendable (inout WorkerOptions) -> Void = { _ in }) {
        self.play = play
        self.workers = workers
        self.change = change
    }

    /// Kills one and starts another at once, as a supervisor would; does not wait until that is ready.
    func killOne() async throws {
        let index = play.random(0...workers.count - 1)
        try await play.kill(workers[index])
        workers[index] = try await play.worker { options in
            change(&options)
            options.waits = false
        }
    }

    /// Those that should be alive.
    var all: [Program] { workers }
}
