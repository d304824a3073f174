import Errand
import Testing

/// An end of a holder's claim while a successor waits.
private struct ClaimEnd: Sendable {
    let how: String
    let events: [String]
    let holder: JobState
    /// Whether the stop was requested by hand, before the successor was pushed.
    var cancelledByHand = false
    var timeout: Duration?
    /// Whether the holder itself would return to the head of its ready list; then its successor does.
    var returns: Bool {
        ["released", "released after a cancel", "release of the session", "recovery"].contains(how)
    }
    let end: @Sendable (Fixture, TestSession, Claim) async throws -> Void

    static func reported(
        _ verb: OutcomeReport.Verb,
        _ events: [String],
        _ holder: JobState,
        retryDelay: Int? = nil,
        cancelledByHand: Bool = false
    ) -> ClaimEnd {
        let how =
            "\(verb)" + (retryDelay == nil ? "" : " with retries left") + (cancelledByHand ? " after a cancel" : "")
        return ClaimEnd(how: how, events: events, holder: holder, cancelledByHand: cancelledByHand) {
            _,
            session,
            claim in
            let counted = try await session.report(verb, claim, error: "reason", retryDelay: retryDelay)
            #expect(counted)
        }
    }
}

extension ConformanceCase {
    private static let claimEnds: [ClaimEnd] = [
        .reported(.finished, ["finished old"], .finished),
        .reported(.failed, ["failed old", "replaced old"], .replaced),
        .reported(.failed, ["failed old", "replaced old"], .replaced, retryDelay: 0),
        .reported(.timedOut, ["timed_out old", "replaced old"], .replaced),
        .reported(.timedOut, ["timed_out old", "replaced old"], .replaced, retryDelay: 0),
        .reported(.cancelled, ["cancelled old", "replaced old"], .replaced),
        .reported(.snoozed, ["cancelled old", "replaced old"], .replaced, retryDelay: 0),
        .reported(.released, ["released old", "replaced old"], .replaced),
        .reported(.unroutable, ["replaced old"], .replaced),
        .reported(.unreadable, ["dead old"], .dead),
        .reported(.finished, ["finished old"], .finished, cancelledByHand: true),
        .reported(.failed, ["cancelled old"], .cancelled, retryDelay: 0, cancelledByHand: true),
        .reported(.timedOut, ["cancelled old"], .cancelled, cancelledByHand: true),
        .reported(.cancelled, ["cancelled old"], .cancelled, cancelledByHand: true),
        .reported(.released, ["cancelled old"], .cancelled, cancelledByHand: true),
        ClaimEnd(how: "release of the session", events: ["released old", "replaced old"], holder: .replaced) {
            _,
            session,
            _ in try await session.release()
        },
        ClaimEnd(how: "recovery", events: ["recovered old", "replaced old"], holder: .replaced) { fixture, _, _ in
            try await fixture.recover(1)
        },
        ClaimEnd(
            how: "the hard deadline",
            events: ["timed_out old", "replaced old"],
            holder: .replaced,
            timeout: .milliseconds(1)
        ) { fixture, _, _ in try await fixture.recover(1) },
    ]

    static let succession: [ConformanceCase] = claimEnds.flatMap { claimEnd in
        [nil, 3_600_000].map { (delay: Int64?) in
            let due = delay == nil ? "due now" : "due later"
            return ConformanceCase("a claim ends by \(claimEnd.how), successor \(due)") { fixture in
                try await fixture.playSuccession(claimEnd, successorDelay: delay)
            }
        }
    }
}

extension Fixture {
    fileprivate func playSuccession(_ claimEnd: ClaimEnd, successorDelay delay: Int64?) async throws {
        let session = claimEnd.how == "recovery" ? try await doomed() : try await session()
        try await push(job("old", .drop, timeout: claimEnd.timeout))
        let claim = try await session.claimOne(wait: .zero)
        try await push(job("waiting"))
        if claimEnd.cancelledByHand { #expect(try await cancel("old") == .stopping) }
        let policy: UniquenessPolicy = claimEnd.cancelledByHand ? .drop : .replace
        #expect(try await receipt(job("next", policy, delay: delay)).outcome == .deferred)
        #expect(try await status().deferred == 1)
        _ = try await news()

        try await claimEnd.end(self, session, claim)

        #expect(try await news() == claimEnd.events)
        #expect(try await state("old") == claimEnd.holder)
        #expect(try await state("next") == (delay == nil ? .ready : .scheduled))
        #expect(try await receipt(job("other", .drop)).holder == "next", "the name is the successor's")
        let status = try await status()
        #expect(status.deferred == 0)
        #expect(status.running == 0)
        let line = claimEnd.returns ? ["next", "waiting"] : ["waiting", "next"]
        #expect(try await self.session().claimedIDs() == (delay == nil ? line : ["waiting"]))
    }
}
