import Errand
import ErrandRedis
import Foundation
import Synchronization
import TestSupport

extension ScenarioContext {
    /// Waits until no job waits or runs.
    func drain(_ queue: String = ScenarioContext.queue, within limit: Duration? = nil) async throws {
        let console = try console
        let limit = limit ?? state.withLock(\.rules.drain)
        try await eventually("queue \(queue) is empty", within: limit) {
            do throws(BrokerError) {
                let now = try await console.status(of: queue).queue
                return now.ready + now.running + now.scheduled + now.retrying + now.deferred == 0
            } catch { return false }
        }
    }

    /// Checks after the faults that the queue drains, the workers stop, and the accounts agree.
    func settle() async throws {
        let queues = Set(accounts.entries.isEmpty ? [Self.queue] : [Self.queue] + (try await console.queues()))
        for queue in queues.sorted() {
            do { try await drain(queue) } catch { fails(error) }
        }
        try await awaitRecoveries(queues)
        expectNoLeakedDescriptors()
        try expectNoGrace()
        try await leave()
        let checker = Checker(accounts: accounts, ledger: ledger)
        let (lost, stuck) = try await losses(checker, in: queues)
        let rules = state.withLock(\.rules)
        let again = rules.serverLosesData || rules.mayRunAfterItsEnd ? [] : checker.runsAfterTheEnd
        let unexpected = checker.unexpected(earlyBy: rules.earlyTolerance) + again
        let overlaps = checker.overlaps
        let findings = try await audit(queues)
        let left = try await leftovers(queues)
        state.withLock { state in
            state.report.lost = lost.count
            state.report.stuck = stuck.count + left.count
            state.report.unexpected = unexpected.count
            state.report.duplicates = checker.duplicates
            state.report.audit = findings.count
            state.hasSettled = true
        }
        let wrong = rules.serverLosesData ? lostSinceTheLastInjection(among: lost) : lost.map(\.description)
        expect(wrong.isEmpty, "\(wrong.count) lost: \(wrong.prefix(5))")
        // Without these lines a run after the end of its job would go unnoticed.
        expect(ledger.ended.isEmpty || !ledger.accepted.isEmpty, "no worker wrote that an end was accepted")
        expect(stuck.isEmpty, "\(stuck.count) stuck: \(stuck.prefix(5))")
        expect(left.isEmpty, "keys left over: \(left.prefix(8))")
        expect(unexpected.isEmpty, "\(unexpected.count) unexpected: \(unexpected.prefix(5))")
        expect(findings.isEmpty, "the audit found \(findings.prefix(5).map(\.message))")
        if rules.forbidsDuplicates {
            let twice = ledger.begun.filter { $0.value > 1 }
            expect(twice.isEmpty, "\(twice.count) jobs ran more than once: \(twice.keys.sorted().prefix(5))")
        }
        let reused = rules.mayReuseTokens ? [] : checker.reusedTokens
        expect(reused.isEmpty, "\(reused.count) tokens were given out twice: \(reused.prefix(3))")
        if rules.forbidsOverlaps { expect(overlaps.isEmpty, "jobs ran twice at once: \(overlaps.prefix(5))") }
    }

    /// Grace is for outages. Granted without one, it hides that all heartbeats fail.
    private func expectNoGrace() throws {
        guard state.withLock(\.rules.forbidsGrace), let server = try watched() else { return }
        let leap = try server.run("HGET", Self.key("runtime"), "leap")
        expectInTime(leap.isEmpty, "grace was granted at \(leap), and there was no outage")
    }

    /// Live workers recover the jobs of dead ones and end their sessions.
    private func awaitRecoveries(_ queues: Set<String>) async throws {
        guard !state.withLock({ $0.workers.filter(\.isRunning) }).isEmpty else { return }
        for queue in queues.sorted() {
            do {
                try await eventually("the sessions of dead workers are ended", within: .seconds(20)) {
                    let alive = Set(self.state.withLock(\.workers).filter(\.isRunning).flatMap(self.sessions))
                    let known = try await self.console.status(of: queue).sessions.map(\.id)
                    return Set(known).isSubset(of: alive)
                }
            } catch { fails(error) }
        }
    }

    /// If the server loses data: jobs that are lost although they were pushed afterwards.
    private func lostSinceTheLastInjection(among lost: [Checker.Loss]) -> [String] {
        guard let injection = state.withLock(\.lastInjection) else { return lost.map(\.description) }
        let later = accounts.tried(after: injection)
        return lost.filter { later.contains($0.id) }.map(\.description)
    }

    /// If the server has lost data: no job that was pushed since may be missing after all have ended.
    func expectNothingLostSinceTheLastInjection() async throws {
        let checker = Checker(accounts: accounts, ledger: ledger)
        let wrong = lostSinceTheLastInjection(among: try await losses(checker, in: [Self.queue]).lost)
        expect(wrong.isEmpty, "\(wrong.count) lost after the server had lost data: \(wrong.prefix(5))")
    }

    private func losses(
        _ checker: Checker,
        in queues: Set<String>
    ) async throws -> (lost: [Checker.Loss], stuck: [String]) {
        // Ids are unique over all queues: a job is lost if no queue has it.
        var unknown = Set(checker.open)
        var lost: [Checker.Loss] = []
        var stuck: [String] = []
        let mayBeCancelled = state.withLock(\.rules.jobsMayBeCancelled)
        for queue in queues.sorted() {
            let found = try await checker.fates(console, on: queue, mayBeCancelled: mayBeCancelled)
            unknown.subtract(found.known)
            lost += found.lost
            stuck += found.stuck
        }
        return (lost + unknown.sorted().map { Checker.Loss(id: $0, why: "the broker does not know it") }, stuck)
    }

    func audit(_ queues: Set<String> = [ScenarioContext.queue]) async throws -> [Finding] {
        var findings: [Finding] = []
        for queue in queues.sorted() { findings += try await console.audit(queue, repair: false) }
        return findings
    }

    /// Keys that should not exist after every job has ended and every worker has stopped.
    private func leftovers(_ queues: Set<String>) async throws -> [String] {
        var keys: [String] = []
        for queue in queues.sorted() { keys += try await self.keys(of: queue).filter { !Self.mayBeLeft($0) } }
        let tolerated = state.withLock(\.rules.toleratedKeys)
        keys.removeAll { key in tolerated.contains { key.hasPrefix($0) } }
        let dead = try await console.status(of: Self.queue).queue.dead
        // Dead jobs keep their body, their position and the reason.
        return dead > 0
            ? keys.filter { !["body", "dead", "errors", "failures", "crashes", "solo_crashes"].contains($0) } : keys
    }

    /// A queue's keys without their common prefix.
    func keys(of queue: String = ScenarioContext.queue) async throws -> [String] {
        let prefix = KeySpace.key(of: queue) + ":"
        guard let server = try watched(queue) else { return [] }
        return try server.run("KEYS", prefix + "*").split(separator: "\n").map { String($0.dropFirst(prefix.count)) }
    }

    static func mayBeLeft(_ key: String) -> Bool {
        ["runtime", "counters", "settings", "schedules", "timetable", "pauses", "ticks"].contains(key)
            || key.hasPrefix("ended")
            || key.hasPrefix("history") || key.hasPrefix("statistics") || key.isEmpty
    }
}
