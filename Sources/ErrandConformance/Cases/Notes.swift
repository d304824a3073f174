import Errand
import Testing

extension ConformanceCase {
    static let notes: [ConformanceCase] = [
        ConformanceCase("progress is kept and published, the last one counts") { stage in
            let hand = try await stage.session()
            try await stage.pushPlain("a")
            let claim = try await hand.claimOne()
            #expect(try await hand.note(claim, JobProgress(0.25, "reading \"x\"\n")))
            #expect(try await hand.note(claim, JobProgress(0.5)))
            #expect(try await stage.record("a")?.progress == JobProgress(0.5))
            let events = try await stage.jobEvents()
            #expect(events.map(\.kind) == [.progress, .progress])
            #expect(events.map(\.fraction) == [0.25, 0.5])
            #expect(events.map(\.message) == ["reading \"x\"\n", nil])
            #expect(events.map(\.worker) == [hand.id, hand.id])
            #expect(events.map(\.attempt) == [1, 1])
        },
        ConformanceCase("a checkpoint outlives its run and ends with its job") { stage in
            let hand = try await stage.session()
            try await stage.pushPlain("a")
            let first = try await hand.claimOne()
            #expect(try await stage.checkpoint("a") == nil)
            #expect(try await hand.note(first, checkpoint: "one"))
            #expect(try await hand.note(first, checkpoint: "two\n"))
            try await hand.report(.failed, first, error: "no", retryDelay: 0)
            try await stage.promote(1)
            #expect(try await stage.checkpoint("a") == "two\n")
            try await hand.report(.finished, try await hand.claimOne())
            #expect(try await stage.checkpoint("a") == nil)
            #expect(try await stage.record("a")?.progress == nil)
        },
        ConformanceCase("a dead job keeps its checkpoint when it is tried again by hand, and forgets how far it was") {
            stage in
            let hand = try await stage.session()
            try await stage.pushPlain("a")
            let claim = try await hand.claimOne()
            #expect(try await hand.note(claim, JobProgress(0.75), checkpoint: "here"))
            try await hand.report(.failed, claim, error: "no")
            #expect(try await stage.record("a")?.progress == JobProgress(0.75))
            #expect(try await stage.revive("a") == .revived)
            #expect(try await stage.record("a")?.progress == nil)
            #expect(try await stage.checkpoint("a") == "here")
            #expect(try await stage.cancel("a") == .cancelled)
            #expect(try await stage.checkpoint("a") == nil)
        },
        ConformanceCase("nothing is left of what plain jobs told when they end at their first run") { stage in
            let hand = try await stage.session()
            try await stage.pushPlain("a")
            let first = try await hand.claimOne()
            #expect(try await hand.note(first, JobProgress(1)))
            try await hand.report(.finished, first)
            try await stage.pushPlain("b")
            let second = try await hand.claimOne()
            #expect(try await hand.note(second, checkpoint: "b"))
            try await hand.report(.finished, second)
            // Their ids are used again where the broker has forgotten them; until then the audit would find what is left.
            #expect(try await stage.broker.audit(stage.queue, repair: false) == [])
            #expect(try await stage.checkpoint("b") == nil)
        },
        ConformanceCase("a job that gives way takes its checkpoint with it") { stage in
            let hand = try await stage.session()
            try await stage.push(stage.job("a", .replace))
            let claim = try await hand.claimOne()
            #expect(try await hand.note(claim, checkpoint: "a"))
            try await hand.report(.failed, claim, error: "no", retryDelay: 60_000)
            #expect(try await stage.receipt(stage.job("b", .replace)).outcome == .replaced)
            #expect(try await stage.checkpoint("a") == nil)
            #expect(try await stage.checkpoint("b") == nil)
        },
        ConformanceCase("a note with an old token, of another session or of an unknown job changes nothing") { stage in
            let (hand, other) = (try await stage.session(), try await stage.session())
            try await stage.pushPlain("a")
            let old = try await hand.claimOne()
            try await hand.report(.released, old)
            let new = try await hand.claimOne()
            #expect(try await !hand.note(old, JobProgress(1), checkpoint: "old"))
            #expect(try await !other.note(new, JobProgress(1), checkpoint: "other"))
            try await hand.report(.finished, new)
            #expect(try await !hand.note(new, JobProgress(1), checkpoint: "late"))
            #expect(try await stage.checkpoint("a") == nil)
            #expect(try await stage.jobEvents().contains { $0.kind == .progress } == false)
        },
        ConformanceCase("a checkpoint of more than 64 KiB is refused") { stage in
            let hand = try await stage.session()
            try await stage.pushPlain("a")
            let claim = try await hand.claimOne()
            #expect(try await hand.note(claim, checkpoint: String(repeating: "x", count: 65_536)))
            let error = await #expect(throws: BrokerError.self) {
                try await hand.note(claim, checkpoint: String(repeating: "y", count: 65_537))
            }
            #expect(error?.code == .refused)
            #expect(try await stage.checkpoint("a")?.first == "x")
        },
    ]
}

extension Hand {
    fileprivate func note(
        _ claim: Claim,
        _ progress: JobProgress? = nil,
        checkpoint: String? = nil
    ) async throws -> Bool {
        try await stage.broker.note(
            JobNote(
                id: claim.id,
                token: claim.token,
                progress: progress,
                checkpoint: checkpoint.map { Array($0.utf8) }
            ),
            of: session,
            on: stage.queue
        )
    }
}

extension Stage {
    fileprivate func checkpoint(_ id: String) async throws -> String? {
        try await broker.checkpoint(of: id, on: queue).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Every event so far, as the library reads it.
    func jobEvents() async throws -> [JobEvent] {
        _ = try await log.drain()
        return try await log.linesSoFar().compactMap(JobEvent.init(line:))
    }
}
