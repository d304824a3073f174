import Errand
import Testing

extension ConformanceCase {
    static let notes: [ConformanceCase] = [
        ConformanceCase("progress is kept and published; the last one counts") { fixture in
            let session = try await fixture.session()
            try await fixture.pushPlain("a")
            let claim = try await session.claimOne()
            #expect(try await session.update(claim, JobProgress(0.25, "reading \"x\"\n")))
            #expect(try await session.update(claim, JobProgress(0.5)))
            #expect(try await fixture.record("a")?.progress == JobProgress(0.5))
            let events = try await fixture.jobEvents()
            #expect(events.map(\.kind) == [.progress, .progress])
            #expect(events.map(\.fraction) == [0.25, 0.5])
            #expect(events.map(\.message) == ["reading \"x\"\n", nil])
            #expect(events.map(\.worker) == [session.id, session.id])
            #expect(events.map(\.attempt) == [1, 1])
        },
        ConformanceCase("a checkpoint outlives its run and ends with its job") { fixture in
            let session = try await fixture.session()
            try await fixture.pushPlain("a")
            let first = try await session.claimOne()
            #expect(try await fixture.checkpoint("a") == nil)
            #expect(try await session.update(first, checkpoint: "one"))
            #expect(try await session.update(first, checkpoint: "two\n"))
            try await session.report(.failed, first, error: "no", retryDelay: 0)
            try await fixture.promote(1)
            #expect(try await fixture.checkpoint("a") == "two\n")
            try await session.report(.finished, try await session.claimOne())
            #expect(try await fixture.checkpoint("a") == nil)
            #expect(try await fixture.record("a")?.progress == nil)
        },
        ConformanceCase("a dead job that is retried by hand keeps its checkpoint and loses its progress") {
            fixture in
            let session = try await fixture.session()
            try await fixture.pushPlain("a")
            let claim = try await session.claimOne()
            #expect(try await session.update(claim, JobProgress(0.75), checkpoint: "here"))
            try await session.report(.failed, claim, error: "no")
            #expect(try await fixture.record("a")?.progress == JobProgress(0.75))
            #expect(try await fixture.retry("a") == .retried)
            #expect(try await fixture.record("a")?.progress == nil)
            #expect(try await fixture.checkpoint("a") == "here")
            #expect(try await fixture.cancel("a") == .cancelled)
            #expect(try await fixture.checkpoint("a") == nil)
        },
        ConformanceCase("plain jobs that finish leave no progress and no checkpoint") { fixture in
            let session = try await fixture.session()
            try await fixture.pushPlain("a")
            let first = try await session.claimOne()
            #expect(try await session.update(first, JobProgress(1)))
            try await session.report(.finished, first)
            try await fixture.pushPlain("b")
            let second = try await session.claimOne()
            #expect(try await session.update(second, checkpoint: "b"))
            try await session.report(.finished, second)
            // Remaining data would affect later jobs with the same ids once the broker has forgotten them; the audit
            // finds it.
            #expect(try await fixture.broker.audit(fixture.queue, repair: false) == [])
            #expect(try await fixture.checkpoint("b") == nil)
        },
        ConformanceCase("the checkpoint of a replaced job is removed") { fixture in
            let session = try await fixture.session()
            try await fixture.push(fixture.job("a", .replace))
            let claim = try await session.claimOne()
            #expect(try await session.update(claim, checkpoint: "a"))
            try await session.report(.failed, claim, error: "no", retryDelay: 60_000)
            #expect(try await fixture.receipt(fixture.job("b", .replace)).outcome == .replaced)
            #expect(try await fixture.checkpoint("a") == nil)
            #expect(try await fixture.checkpoint("b") == nil)
        },
        ConformanceCase("an update with an old token, of another session or of an unknown job changes nothing") {
            fixture in
            let (session, other) = (try await fixture.session(), try await fixture.session())
            try await fixture.pushPlain("a")
            let old = try await session.claimOne()
            try await session.report(.released, old)
            let new = try await session.claimOne()
            #expect(try await !session.update(old, JobProgress(1), checkpoint: "old"))
            #expect(try await !other.update(new, JobProgress(1), checkpoint: "other"))
            try await session.report(.finished, new)
            #expect(try await !session.update(new, JobProgress(1), checkpoint: "late"))
            #expect(try await fixture.checkpoint("a") == nil)
            #expect(try await fixture.jobEvents().contains { $0.kind == .progress } == false)
        },
        ConformanceCase("a checkpoint above 64 KiB is rejected") { fixture in
            let session = try await fixture.session()
            try await fixture.pushPlain("a")
            let claim = try await session.claimOne()
            #expect(try await session.update(claim, checkpoint: String(repeating: "x", count: 65_536)))
            let error = await #expect(throws: BrokerError.self) {
                try await session.update(claim, checkpoint: String(repeating: "y", count: 65_537))
            }
            #expect(error?.code == .refused)
            #expect(try await fixture.checkpoint("a")?.first == "x")
        },
    ]
}

extension TestSession {
    fileprivate func update(
        _ claim: Claim,
        _ progress: JobProgress? = nil,
        checkpoint: String? = nil
    ) async throws -> Bool {
        try await fixture.broker.update(
            JobUpdate(
                id: claim.id,
                token: claim.token,
                progress: progress,
                checkpoint: checkpoint.map { Array($0.utf8) }
            ),
            of: session,
            on: fixture.queue
        )
    }
}

extension Fixture {
    fileprivate func checkpoint(_ id: String) async throws -> String? {
        try await broker.checkpoint(of: id, on: queue).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Returns every event so far, parsed by the library.
    func jobEvents() async throws -> [JobEvent] {
        _ = try await log.drain()
        return try await log.linesSoFar().compactMap(JobEvent.init(line:))
    }
}
