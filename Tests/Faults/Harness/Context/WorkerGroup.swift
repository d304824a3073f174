import Foundation
import TestSupport

/// Workers under a supervisor, which restarts every worker that ends.
actor WorkerGroup {
    private let context: ScenarioContext
    private let change: @Sendable (inout WorkerOptions) -> Void
    private var workers: [Program] = []
    private var watch: Task<Void, Never>?
    /// The exit statuses of workers that ended by themselves.
    private(set) var ends: [Int32] = []
    /// The workers that ``killOne()`` has killed.
    private(set) var kills: [Takeovers.Kill] = []

    /// Starts this many workers and waits until they are registered.
    init(
        _ context: ScenarioContext,
        _ count: Int,
        _ change: @escaping @Sendable (inout WorkerOptions) -> Void = { _ in }
    ) async throws {
        self.context = context
        self.change = change
        workers = try await context.workers(count, change)
        watch = Task {
            do { try await self.supervise() } catch is CancellationError {} catch { context.fails(error) }
        }
        context.atHalt { await self.dismiss() }
    }

    /// Kills one that the seed selects; the supervisor starts another.
    func killOne() {
        let victim = workers[context.random(0...workers.count - 1)]
        if victim.isRunning { kills.append(Takeovers.Kill(pid: victim.pid, milliseconds: ScenarioContext.now)) }
        victim.signal(SIGKILL)
    }

    /// The live workers.
    var all: [Program] { workers }

    /// Stops restarting workers.
    func dismiss() { watch?.cancel() }

    private func supervise() async throws {
        while !Task.isCancelled {
            for index in workers.indices {
                guard let status = workers[index].status else { continue }
                if !workers[index].signals.contains(SIGKILL) { ends.append(status) }
                try Task.checkCancellation()
                workers[index] = try await context.worker { options in
                    change(&options)
                    options.waits = false
                }
            }
            try await Task.sleep(for: .milliseconds(50))
        }
    }
}
