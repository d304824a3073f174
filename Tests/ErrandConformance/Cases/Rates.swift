import Errand
import Testing

/// Rates, rests, rules of whole queues, and jobs that are never claimed ahead.
extension ConformanceCase {
    static let rates = groupRates + rests + wholeQueues + claimsAhead + runTimes

    private static let hourly = FlowRule(rate: FlowRate(1, per: .seconds(3600)))

    private static let groupRates: [ConformanceCase] = [
        ConformanceCase("no more jobs of a group start than its rate and its burst allow") { fixture in
            try await fixture.setFlow("a", FlowRule(rate: FlowRate(1, per: .seconds(3600), burst: 3)))
            try await fixture.pushGroups("a", "a", "a", "a", "a", "b", "b")
            let session = try await fixture.session()
            let claims = try await session.claim()
            #expect(fixture.groups(of: claims).sorted() == ["a", "a", "a", "b", "b"])
            for claim in claims { try await session.report(.finished, claim) }
            #expect(try await session.claim().isEmpty, "the end of a claim frees no start")
            let group = try await fixture.group("a")
            #expect(group.waiting == 2 && group.held == 0 && group.isAtRate)
            let now = Fixture.milliseconds
            #expect((now...(now + 3_600_000)).contains(try #require(group.restingUntil)))
            #expect(try await fixture.status().ready == 2, "a job of a group that rests is ready")
        },
        ConformanceCase("starts of a group are at least the time of its rate apart") { fixture in
            try await fixture.setFlow("a", FlowRule(rate: FlowRate(10, per: .seconds(1))))
            try await fixture.pushGroups("a", "a", "a", "a")
            let session = try await fixture.session()
            var starts: [Int64] = []
            try await fixture.eventually("all have started") {
                starts += try await session.claim().map { Int64($0.token / 1000) }
                return starts.count == 4
            }
            #expect(zip(starts, starts.dropFirst()).allSatisfy { $1 - $0 >= 100 }, "\(starts)")
        },
        ConformanceCase("a promotion says when a group may run again, and wakes a session then") { fixture in
            try await fixture.setFlow("a", FlowRule(rate: FlowRate(1, per: .seconds(2))))
            try await fixture.pushGroups("a", "a")
            let (busy, waiting) = (try await fixture.session(), try await fixture.session())
            let reply = try await busy.exchange(wanted: 1)
            #expect(reply.claims.count == 1 && reply.needsPromotion, "somebody should look when the group may run")
            let next = try #require(try await fixture.broker.promote(on: fixture.queue).nextDue)
            #expect((0...2000).contains(next))
            try await fixture.awaitWakeUp(of: waiting) {
                try await fixture.eventually("the group may run") {
                    try await fixture.broker.promote(on: fixture.queue).promoted == 1
                }
            }
            #expect(try await waiting.claim().count == 1)
        },
        ConformanceCase("a changed rate applies from the next claim on") { fixture in
            try await fixture.setFlow("a", hourly)
            try await fixture.pushGroups("a", "a", "a", "a")
            let session = try await fixture.session()
            #expect(try await session.claim().count == 1)
            #expect(try await session.claim().isEmpty)
            try await fixture.setFlow("a", FlowRule(rate: FlowRate(1, per: .seconds(3600), burst: 2)))
            #expect(try await session.claim().count == 1)
            #expect(try await fixture.broker.deleteFlow(fixture.queue, matching: "a"))
            #expect(try await session.claim().count == 2, "without a rule nothing rests")
        },
        ConformanceCase("both levels of a group have rates") { fixture in
            try await fixture.setFlow("a", FlowRule(rate: FlowRate(1, per: .seconds(3600), burst: 2)))
            try await fixture.setFlow("*/*", hourly)
            try await fixture.pushGroups("a/x", "a/x", "a/y", "a/z", "b/x", "b/x")
            #expect(try await fixture.session().groups(9).sorted() == ["a/x", "a/y", "b/x"])
        },
        ConformanceCase("a group that becomes empty has no new burst") { fixture in
            try await fixture.setFlow("a", FlowRule(rate: FlowRate(1, per: .seconds(3600), burst: 2)))
            let session = try await fixture.session()
            try await fixture.pushGroups("a", "a")
            for claim in try await session.claim() { try await session.report(.finished, claim) }
            try await fixture.pushGroups("a")
            #expect(try await session.claim().isEmpty)
            #expect(try await fixture.group("a").isAtRate)
        },
        ConformanceCase("a start that is released does not count") { fixture in
            try await fixture.setFlow("a", hourly)
            try await fixture.pushGroups("a", "a")
            let session = try await fixture.session()
            let first = try await session.claimOne()
            #expect(try await session.claim().isEmpty)
            try await session.report(.released, first)
            #expect(try await session.claimOne().id == first.id, "it is at the head of its group again")
            #expect(try await session.reconcile([]).released == 1)
            #expect(try await session.claimOne().id == first.id)
            try await session.release()
            let other = try await fixture.session()
            let again = try await other.claimOne()
            try await other.report(.snoozed, again, retryDelay: 0)
            #expect(try await other.claim().isEmpty, "a run that was not released counts")
        },
        ConformanceCase("a start in the past gives none back that later starts may have used") { fixture in
            try await fixture.setFlow("a", FlowRule(rate: FlowRate(1, per: .seconds(3), burst: 1)))
            try await fixture.pushGroups("a", "a", "a")
            let session = try await fixture.session()
            let first = try await session.claimOne()
            var second: Claim?
            try await fixture.eventually("the next one has started") {
                second = try await session.claim(1).first
                return second != nil
            }
            let answer = try await session.exchange(reports: [TestSession.outcome(.released, first)], wanted: 1)
            #expect(answer.claims.isEmpty)
        },
        ConformanceCase("a quarantined job waits for the rate of its group") { fixture in
            try await fixture.push(fixture.job("poison", group: "a"))
            for crashes in 0..<3 { try await fixture.crash(["poison"], crashes: crashes) }
            try await fixture.setFlow("a", hourly)
            let session = try await fixture.session()
            let first = try await session.claimOne()
            try await session.report(.released, first)
            let second = try await session.claimOne()
            #expect(first.id == "poison" && second.id == "poison", "a start that is released does not count")
            try await session.report(.snoozed, second, retryDelay: 0)
            try await fixture.promote(1)
            #expect(try await session.claim().isEmpty)
            #expect(try await fixture.broker.deleteFlow(fixture.queue, matching: "a"))
            #expect(try await session.claimedIDs() == ["poison"])
        },
        ConformanceCase("a rate that cannot be is refused") { fixture in
            let rates = [
                FlowRate(0, per: .seconds(1)), FlowRate(1_000_001, per: .seconds(1)), FlowRate(1, per: .zero),
                FlowRate(1, per: .seconds(2_592_001)), FlowRate(1, per: .seconds(1), burst: 0),
            ]
            for rate in rates {
                await #expect(throws: BrokerError.self, "\(rate)") {
                    try await fixture.setFlow("a", FlowRule(rate: rate))
                }
            }
            let rule = FlowRule(atOnce: 3, rate: FlowRate(1_000_000, per: .seconds(2_592_000), burst: 7), weight: 2)
            try await fixture.setFlow("a", rule)
            #expect(try await fixture.broker.flow(of: fixture.queue).map(\.rule) == [rule])
        },
    ]

    private static let rests: [ConformanceCase] = [
        ConformanceCase("a handler lets the whole group rest, and its job is the first one after that") { fixture in
            try await fixture.push(fixture.job("first", group: "a"), fixture.job("second", group: "a"))
            try await fixture.push(fixture.job("b", group: "b"))
            let session = try await fixture.session()
            let claim = try await session.claimOne()
            #expect(claim.id == "first")
            try await session.report(.groupRests, claim, retryDelay: 2000)
            let group = try await fixture.group("a")
            #expect(group.restingUntil != nil && !group.isAtRate && group.waiting == 2 && group.held == 0)
            #expect(try await session.claimedIDs() == ["b"])
            var again: [Claim] = []
            try await fixture.eventually("the group may run again") {
                again = try await session.claim()
                return !again.isEmpty
            }
            #expect(again.map(\.id) == ["first", "second"] && again.first?.attempt == 1)
            #expect(try await fixture.group("a").restingUntil == nil)
        },
        ConformanceCase("a longer rest is not shortened, and the rule's end does not end it") { fixture in
            try await fixture.setFlow("a", FlowRule(atOnce: 9))
            try await fixture.pushGroups("a", "a", "a")
            let session = try await fixture.session()
            let claims = try await session.claim(2)
            try await session.report(.groupRests, claims[0], retryDelay: 3_600_000)
            let ends = try #require(try await fixture.group("a").restingUntil)
            try await session.report(.groupRests, claims[1], retryDelay: 10)
            _ = try await fixture.broker.deleteFlow(fixture.queue, matching: "a")
            #expect(try await fixture.group("a").restingUntil == ends)
            #expect(try await session.claim().isEmpty)
        },
        ConformanceCase("a job without a group waits alone") { fixture in
            try await fixture.pushPlain("one", "two")
            let session = try await fixture.session()
            try await session.report(.groupRests, try await session.claimOne(), retryDelay: 3_600_000)
            #expect(try await fixture.status().retrying == 1)
            #expect(try await session.claimedIDs() == ["two"])
        },
        ConformanceCase("a job that was asked to stop ends instead of letting its group rest") { fixture in
            try await fixture.push(fixture.job("a", group: "a"))
            let session = try await fixture.session()
            let claim = try await session.claimOne()
            _ = try await fixture.cancel("a")
            try await session.report(.groupRests, claim, retryDelay: 3_600_000)
            let group = try await fixture.group("a")
            #expect(group.waiting == 0 && group.restingUntil == nil)
        },
    ]

    private static let wholeQueues: [ConformanceCase] = [
        ConformanceCase("no more jobs of a queue are claimed at once than its rule allows") { fixture in
            try await fixture.setFlow("", FlowRule(atOnce: 3))
            try await fixture.pushPlain("one", "two", "three")
            try await fixture.pushGroups("a", "a")
            let (one, other) = (try await fixture.session(), try await fixture.session())
            let claims = try await one.claim(2)
            #expect(claims.count == 2)
            #expect(try await other.claim().count == 1)
            #expect(try await other.claim().isEmpty)
            #expect(try await fixture.group("").held == 3)
            try await fixture.awaitFreedQueue(of: other) { try await one.report(.finished, claims[0]) }
            #expect(try await other.claim().count == 1)
            try await fixture.setFlow("", FlowRule(atOnce: 4))
            #expect(try await other.claim().count == 1)
        },
        ConformanceCase("no more jobs of a queue start than its rate allows") { fixture in
            try await fixture.setFlow("", FlowRule(rate: FlowRate(1, per: .seconds(3600), burst: 2)))
            try await fixture.pushPlain("one", "two", "three")
            let session = try await fixture.session()
            let claims = try await session.claim()
            #expect(claims.map(\.id) == ["one", "two"])
            #expect(try await session.claim().isEmpty)
            try await session.report(.released, claims[1])
            #expect(try await session.claimedIDs() == ["two"])
            #expect(try await fixture.group("").isAtRate)
            _ = try await fixture.broker.deleteFlow(fixture.queue, matching: "")
            #expect(try await session.claimedIDs() == ["three"])
        },
        ConformanceCase("a queue that rests runs on by itself") { fixture in
            try await fixture.setFlow("", FlowRule(rate: FlowRate(1, per: .seconds(2))))
            try await fixture.pushPlain("one", "two")
            let session = try await fixture.session()
            #expect(try await session.claimedIDs() == ["one"])
            #expect(try await session.claim().isEmpty)
            let next = try #require(try await fixture.broker.promote(on: fixture.queue).nextDue)
            #expect((0...2000).contains(next))
            try await fixture.eventually("the next one starts") { try await session.claimedIDs() == ["two"] }
        },
        ConformanceCase("a queue with a limit dispatches no job directly") { fixture in
            let recorder = try await WakeUpRecorder(fixture)
            try await recorder.finishDispatchedJob()
            try await fixture.setFlow("", FlowRule(atOnce: 5))
            #expect(try await recorder.session.exchange(wanted: 1, acceptsDispatch: true).claims.isEmpty)
            try await fixture.pushPlain("one")
            #expect(try await fixture.status().ready == 1)
        },
        ConformanceCase("the rule of the whole queue is not one of its groups") { fixture in
            try await fixture.setFlow("", FlowRule(atOnce: 1))
            try await fixture.setFlow("*", FlowRule(atOnce: 7))
            #expect(try await fixture.group("a").limit == 7)
            #expect(try await fixture.group("").limit == 1)
            _ = try await fixture.broker.deleteFlow(fixture.queue, matching: "")
            #expect(try await fixture.group("").limit == nil)
        },
    ]

    private static let claimsAhead: [ConformanceCase] = [
        ConformanceCase("jobs of a group with a limit or a rate are only claimed for a free slot") { fixture in
            try await fixture.setFlow("a", FlowRule(atOnce: 5))
            try await fixture.setFlow("b/*", FlowRule(rate: .perSecond(1000, burst: 9)))
            try await fixture.pushGroups("a", "a", "b/x", "b/x", "b", "b", "c", "c")
            let session = try await fixture.session()
            let reply = try await session.exchange(wanted: 100, free: 1)
            #expect(fixture.groups(of: reply.claims).sorted() == ["a", "b", "b", "c", "c"])
            #expect(fixture.groups(of: reply.claims).first == "a" && reply.awaitsFreeSlot)
            let none = try await session.exchange(wanted: 100, free: 0)
            #expect(none.claims.isEmpty && none.awaitsFreeSlot)
            let rest = try await session.exchange(wanted: 100, free: 3)
            #expect(fixture.groups(of: rest.claims).sorted() == ["a", "b/x", "b/x"] && !rest.awaitsFreeSlot)
        },
        ConformanceCase("jobs of a queue with a limit are only claimed for a free slot") { fixture in
            try await fixture.setFlow("", FlowRule(atOnce: 5))
            try await fixture.pushPlain("one", "two", "three")
            let session = try await fixture.session()
            let none = try await session.exchange(wanted: 100, free: 0)
            #expect(none.claims.isEmpty && none.awaitsFreeSlot)
            #expect(try await session.claim(100, free: 2).count == 2)
        },
        ConformanceCase("a session without a free slot lets another one be woken") { fixture in
            try await fixture.setFlow("a", FlowRule(atOnce: 5))
            let (full, waiting) = (try await fixture.session(), try await fixture.session())
            try await fixture.awaitWakeUp(of: waiting) {
                #expect(try await full.claim().isEmpty)
                // This wakes one of the two.
                try await fixture.pushGroups("a")
                #expect(try await full.exchange(wanted: 1, free: 0).awaitsFreeSlot)
            }
            #expect(try await waiting.claim().count == 1)
        },
        ConformanceCase("very many groups with limits are not all looked at without a free slot") { fixture in
            try await fixture.setFlow("*", FlowRule(atOnce: 5))
            try await fixture.pushGroups((0..<60).map { "g\($0)" })
            let session = try await fixture.session()
            #expect(try await session.exchange(wanted: 100, free: 0).awaitsFreeSlot)
            #expect(try await session.claim(100, free: 60).count == 60)
        },
    ]

    private static let runTimes: [ConformanceCase] = [
        ConformanceCase("shares by run time charge what runs have taken, and jobs without a group as well") { fixture in
            try await fixture.setFlow("", FlowRule(isFairByTime: true))
            try await fixture.pushGroups(Array(repeating: "long", count: 40) + Array(repeating: "short/x", count: 40))
            for number in 0..<40 { try await fixture.pushPlain("p\(number)") }
            let counts = try await fixture.session().finish(45, after: ["long": 90, "short/x": 30, "": 30])
            #expect((5...9).contains(counts["long"] ?? 0), "\(counts)")
            #expect((15...23).contains(counts["short/x"] ?? 0) && (15...23).contains(counts[""] ?? 0), "\(counts)")
        },
        ConformanceCase("shares by run time are in proportion to weights") { fixture in
            try await fixture.setFlow("", FlowRule(isFairByTime: true))
            try await fixture.setFlow("heavy", FlowRule(weight: 3))
            try await fixture.pushGroups(Array(repeating: "light", count: 40) + Array(repeating: "heavy", count: 40))
            let counts = try await fixture.session().finish(40, after: ["light": 10, "heavy": 90])
            #expect((8...12).contains(counts["heavy"] ?? 0), "90 ms cost the heavy one as much as 30: \(counts)")
        },
        ConformanceCase("jobs without a group are charged what their runs have taken") { fixture in
            try await fixture.setFlow("", FlowRule(isFairByTime: true))
            try await fixture.pushGroups(Array(repeating: "short", count: 40))
            for number in 0..<40 { try await fixture.pushPlain("p\(number)") }
            let counts = try await fixture.session().finish(40, after: ["short": 10, "": 90])
            #expect((3...6).contains(counts[""] ?? 0), "\(counts)")
        },
        ConformanceCase("a claim is charged in advance, so that a group with running jobs waits") { fixture in
            try await fixture.setFlow("", FlowRule(isFairByTime: true))
            try await fixture.pushGroups("a", "a", "a", "b", "b", "b")
            #expect(try await fixture.session().groups(6) == ["a", "b", "a", "b", "a", "b"])
        },
        ConformanceCase("only the whole queue has shares by run time") { fixture in
            await #expect(throws: BrokerError.self) { try await fixture.setFlow("a", FlowRule(isFairByTime: true)) }
            let rule = FlowRule(atOnce: 3, isFairByTime: true)
            try await fixture.setFlow("", rule)
            #expect(try await fixture.broker.flow(of: fixture.queue).map(\.rule) == [rule])
        },
    ]
}
