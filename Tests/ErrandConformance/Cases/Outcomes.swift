import Errand
import Testing

/// An end of a claim while no successor waits.
private struct PlainEnd: Sendable {
    let how: String
    let events: [String]
    let state: JobState
    var stops = false
    var timeout: Duration?
    var retries: Int?
    let end: @Sendable (Fixture, TestSession, Claim) async throws -> Void

    static func reported(
        _ verb: OutcomeReport.Verb,
        _ events: [String],
        _ state: JobState,
        retryDelay: Int? = nil,
        stops: Bool = false
    ) -> PlainEnd {
        let how = "\(verb)" + (retryDelay == nil ? "" : " with retries left") + (stops ? ", told to stop" : "")
        return PlainEnd(how: how, events: events, state: state, stops: stops) { _, session, claim in
            let counted = try await session.report(verb, claim, error: "reason", retryDelay: retryDelay)
            #expect(counted)
        }
    }

    static func released(_ events: [String], _ state: JobState, stops: Bool = false) -> PlainEnd {
        PlainEnd(
            how: "release of the session" + (stops ? ", told to stop" : ""),
            events: events,
            state: state,
            stops: stops
        ) {
            _,
            session,
            _ in try await session.release()
        }
    }

    static func recovered(
        _ how: String,
        _ events: [String],
        _ state: JobState,
        stops: Bool = false,
        timeout: Duration? = nil,
        retries: Int? = nil
    ) -> PlainEnd {
        PlainEnd(how: how, events: events, state: state, stops: stops, timeout: timeout, retries: retries) {
            fixture,
            _,
            _ in
            try await fixture.recover(1)
        }
    }
}

extension ConformanceCase {
    private static let plainEnds: [PlainEnd] = [
        .reported(.finished, ["finished old"], .finished),
        .reported(.finished, ["finished old"], .finished, stops: true),
        .reported(.failed, ["failed old", "dead old"], .dead),
        .reported(.failed, ["failed old", "retrying old"], .retrying, retryDelay: 3_600_000),
        .reported(.failed, ["cancelled old"], .cancelled, retryDelay: 0, stops: true),
        .reported(.timedOut, ["timed_out old", "dead old"], .dead),
        .reported(.timedOut, ["timed_out old", "retrying old"], .retrying, retryDelay: 3_600_000),
        .reported(.timedOut, ["cancelled old"], .cancelled, stops: true),
        .reported(.cancelled, ["cancelled old"], .cancelled, stops: true),
        .reported(.snoozed, ["retrying old"], .retrying, retryDelay: 3_600_000),
        .reported(.snoozed, ["cancelled old"], .cancelled, retryDelay: 0, stops: true),
        .reported(.released, ["released old"], .ready),
        .reported(.released, ["cancelled old"], .cancelled, stops: true),
        .reported(.unroutable, [], .ready),
        .reported(.unroutable, ["cancelled old"], .cancelled, stops: true),
        .reported(.unreadable, ["dead old"], .dead),
        .released(["released old"], .ready),
        .released(["cancelled old"], .cancelled, stops: true),
        .recovered("recovery", ["recovered old"], .ready),
        .recovered("recovery, told to stop", ["cancelled old"], .cancelled, stops: true),
        .recovered("the hard deadline", ["timed_out old", "dead old"], .dead, timeout: .milliseconds(1)),
        .recovered(
            "the hard deadline with retries left",
            ["timed_out old", "retrying old"],
            .retrying,
            timeout: .milliseconds(1),
            retries: 1
        ),
        .recovered(
            "the hard deadline, told to stop",
            ["timed_out old"],
            .cancelled,
            stops: true,
            timeout: .milliseconds(1)
        ),
    ]

    static let outcomes: [ConformanceCase] =
        plainEnds.map { plainEnd in
            ConformanceCase("a claim ends by \(plainEnd.how)") { fixture in try await fixture.playEnd(plainEnd) }
        } + [
            ConformanceCase("only failures and timeouts spend an attempt") { fixture in
                let session = try await fixture.session()
                try await fixture.pushPlain("a")
                for (verb, attempt) in [
                    (OutcomeReport.Verb.failed, 1), (.snoozed, 2), (.timedOut, 2), (.released, 3), (.failed, 3),
                ] {
                    let claim = try await session.claimOne()
                    #expect(claim.attempt == attempt)
                    try await session.report(verb, claim, retryDelay: 0)
                    if verb != .released { try await fixture.promote(1) }
                }
                let record = try await fixture.record("a")
                #expect(record?.failures == 3)
                #expect(record?.crashes == 0)
                #expect(try await fixture.total("retried") == 2 + 1)
            },
            ConformanceCase("a retry waits for the reported delay") { fixture in
                let session = try await fixture.session()
                try await fixture.pushPlain("a")
                let before = Fixture.milliseconds
                try await session.report(.failed, try await session.claimOne(), error: "no", retryDelay: 3_600_000)
                let record = try #require(try await fixture.record("a"))
                let at = try #require(record.at)
                #expect((before + 3_599_000...Fixture.milliseconds + 3_601_000).contains(at))
                #expect(String(decoding: record.lastEvent, as: UTF8.self).contains(#""event":"failed""#))
                let promotion = try await fixture.broker.promote(on: fixture.queue)
                #expect(promotion.promoted == 0)
                #expect((3_500_000...3_601_000).contains(promotion.nextDue ?? 0))
            },
            ConformanceCase("a result is kept with the last event") { fixture in
                let session = try await fixture.session()
                try await fixture.pushPlain("a")
                try await session.report(.finished, try await session.claimOne(), result: "line one\nline two")
                let record = try #require(try await fixture.record("a"))
                #expect(record.state == .finished)
                #expect(String(decoding: record.result, as: UTF8.self) == "line one\nline two")
                #expect(try await fixture.log.linesSoFar() == [record.lastEvent])
                #expect(record.body == [])
                #expect(record.at != nil)
            },
        ]
}

extension Fixture {
    fileprivate func playEnd(_ plainEnd: PlainEnd) async throws {
        let isRecovery = plainEnd.how.hasPrefix("recovery")
        let session = isRecovery ? try await doomed() : try await session()
        try await push(job("old", .drop, timeout: plainEnd.timeout, retries: plainEnd.retries))
        let claim = try await session.claimOne(wait: .zero)
        #expect(claim.attempt == 1)
        if plainEnd.stops { #expect(try await cancel("old") == .stopping) }
        _ = try await news()

        try await plainEnd.end(self, session, claim)

        #expect(try await news() == plainEnd.events)
        #expect(try await state("old") == plainEnd.state)
        #expect(try await status().running == 0)
        let after = try await receipt(job("other", .drop))
        #expect(after.outcome == (plainEnd.state.hasEnded ? .accepted : .dropped), "its name is free when it has ended")
    }
}
