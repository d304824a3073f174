import Errand
import Synchronization
import Testing

/// Groups and their rules.
extension Fixture {
    func setFlow(_ pattern: String, _ rule: FlowRule) async throws {
        try await broker.setFlow(queue, matching: pattern, rule)
    }

    func group(_ name: String) async throws -> GroupStatus {
        try #require(try await broker.groups(of: queue, named: name, most: 1).first)
    }

    /// The numbers of claims of groups.
    func held(_ groups: String...) async throws -> [Int] {
        var held: [Int] = []
        for group in groups { held.append(try await self.group(group).held) }
        return held
    }

    /// Pushes a job to each of these groups, in one batch.
    func pushGroups(_ groups: String...) async throws { try await pushGroups(groups) }

    func pushGroups(_ groups: [String]) async throws {
        let jobs = try groups.map { try job(JobIDGenerator.next(), group: $0) }
        let receipts = try await broker.push(jobs, to: queue)
        #expect(receipts.allSatisfy { $0.outcome == .accepted })
    }

    func group(of claim: Claim) -> String {
        (try? JobEnvelope.read(stored: claim.body).description.group) ?? ""
    }

    func groups(of claims: [Claim]) -> [String] { claims.map(group) }

    /// Lets a session find nothing, does something, and waits until the session is woken.
    func awaitWakeUp(of session: TestSession, _ act: () async throws -> Void) async throws {
        let wakeUps = Mutex(0)
        let subscription = broker.wakeUps(for: session.session, on: [queue]) { wakeUp in
            if wakeUp == .work(queue: queue) { wakeUps.withLock { $0 += 1 } }
        }
        defer { subscription.cancel() }
        func finishAll() async throws {
            while case let claims = try await session.claim(), !claims.isEmpty {
                for claim in claims { try await session.report(.finished, claim) }
            }
        }
        // A wake-up may be lost before the subscription is established, so push until one arrives.
        try await eventually("the session listens", every: .milliseconds(50)) {
            try await finishAll()
            if wakeUps.withLock({ $0 > 0 }) { return true }
            try await pushPlain(JobIDGenerator.next())
            return false
        }
        try await finishAll()
        let before = wakeUps.withLock(\.self)
        try await act()
        try await eventually("the session was woken") { wakeUps.withLock { $0 > before } }
    }

    /// Does something that frees a claim of a queue that was full, and waits until a session that waits is woken.
    func awaitFreedQueue(of session: TestSession, _ act: () async throws -> Void) async throws {
        let wakeUps = Mutex(0)
        let subscription = broker.wakeUps(for: session.session, on: [queue]) { wakeUp in
            if wakeUp == .work(queue: queue) { wakeUps.withLock { $0 += 1 } }
        }
        defer { subscription.cancel() }
        // The first wake-up may be lost before the subscription is established. A rule that is set again wakes as well.
        let rule = try await broker.flow(of: queue).first { $0.pattern.isEmpty }?.rule ?? FlowRule()
        try await eventually("the session listens", every: .milliseconds(50)) {
            #expect(try await session.claim().isEmpty)
            try await setFlow("", rule)
            return wakeUps.withLock { $0 > 0 }
        }
        #expect(try await session.claim().isEmpty)
        let before = wakeUps.withLock(\.self)
        try await act()
        try await eventually("the session was woken") { wakeUps.withLock { $0 > before } }
    }
}

extension TestSession {
    /// Claims jobs one call after the other, and returns their groups.
    func groups(_ wanted: Int) async throws -> [String] { fixture.groups(of: try await claim(wanted)) }
}
