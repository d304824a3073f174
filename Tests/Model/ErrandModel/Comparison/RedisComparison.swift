import Errand
package import ErrandRedis
import Logging
package import TestSupport

/// Plays histories on the queue in memory and on the real scripts, and compares everything after every step.
package struct RedisComparison: Sendable {
    let broker: RedisBroker
    let scripts: RedisSubject.Scripts
    private let keepsTombstones: Bool

    /// - Parameters:
    ///   - server: a server of its own, whose data the histories may use.
    ///   - keepsTombstones: Whether the overrides's short lines keep tombstones.
    package init(on server: RedisServer, _ overrides: ScriptOverrides, keepsTombstones: Bool = false) async throws {
        self.keepsTombstones = keepsTombstones
        let options = ConnectionOptions()
        broker = RedisBroker(
            try RedisAddress(url: server.shownURL),
            options: options,
            logger: Logger(label: "model"),
            overrides: overrides
        )
        scripts = try await RedisSubject.Scripts(on: broker)
    }

    package func close() { broker.close() }

    /// What is wrong with a history, or `nil`.
    ///
    /// - Parameter number: of the queue to use; no other history may use it at the same time.
    package func fault(in history: History, queue number: Int, audits: Bool = true) async throws -> Fault? {
        guard let first = history.steps.first else { return nil }
        let universe = Universe(queue: number)
        let subject = RedisSubject(universe, broker, scripts)
        try await subject.begin(first)
        let fault = try await fault(in: history, universe, subject, audits)
        try await subject.wipe()
        return fault
    }

    private func fault(
        in history: History,
        _ universe: Universe,
        _ subject: RedisSubject,
        _ audits: Bool
    ) async throws -> Fault? {
        var queue = MemoryQueue(name: universe.queue)
        for (index, step) in history.on(universe.queue).steps.enumerated() {
            var step = step
            if !step.command.isPossible(for: queue) { step.command = .promote }
            let expected = queue.apply(step.command, at: step.time)
            let seen: Observation
            let next = index + 1 < history.steps.count ? history.steps[index + 1] : nil
            do {
                seen = try await subject.observe(step, next: next)
            } catch { return Fault(step: index, what: "failed: \(error)") }
            if let what = seen.difference(from: queue, expected, universe) { return Fault(step: index, what: what) }
            if let what = queue.brokenInvariant { return Fault(step: index, what: "in memory: \(what)") }
            if audits, index % 10 == 9 || index == history.steps.count - 1 {
                let findings = try await subject.findings() + queue.findings
                if !findings.isEmpty { return Fault(step: index, what: "its audit: \(findings)") }
                // The clock already stands where the next step needs it.
                let view = ConsoleView(queue, universe, at: next?.time ?? step.time)
                let seen = try await subject.view()
                if let what = seen.difference(from: view, tombstones: keepsTombstones) {
                    return Fault(step: index, what: what)
                }
            }
        }
        return nil
    }
}
