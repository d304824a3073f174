import Foundation
import TestSupport

/// Workers under a supervisor: whoever ends, however, is started anew.
actor Crew {
    private let play: Play
    private let change: @Sendable (inout WorkerOptions) -> Void
    private var workers: [Program] = []
    private var watch: Task<Void, Never>?
    /// How often a worker ended by itself, with its statuses.
    private(set) var ends: [Int32] = []
    /// Those that ``killOne()`` has killed.
    private(set) var kills: [Takeovers.Kill] = []

    /// Starts so many workers and waits until they are registered.
    init(
        _ play: Play,
        _ count: Int,
        _ change: @escaping @Sendable (inout WorkerOptions) -> Void = { _ in }
    ) async throws {
        self.play = play
        self.change = change
        workers = try await play.workers(count, change)
        watch = Task {
            do { try await self.supervise() } catch is CancellationError {} catch { play.fails(error) }
        }
        play.atHalt { await self.dismiss() }
    }

    /// Kills one, chosen by the seed; the supervisor starts another.
    func killOne() {
        let victim = workers[play.random(0...workers.count - 1)]
        if victim.isRunning { kills.append(Takeovers.Kill(pid: victim.pid, milliseconds: Play.now)) }
        victim.signal(SIGKILL)
    }

    /// Those that live now.
    var all: [Program] { workers }

    /// Nobody is started anew from now on.
    func dismiss() { watch?.cancel() }

    private func supervise() async throws {
        while !Task.isCancelled {
            for index in workers.indices {
                guard let status = workers[index].status else { continue }
                if !workers[index].signals.contains(SIGKILL) { ends.append(status) }
                try Task.checkCancellation()
                workers[index] = try await play.worker { options in
                    change(&options)
                    options.waits = false
                }
            }
            try await Task.sleep(for: .milliseconds(50))
        }
    }
}
