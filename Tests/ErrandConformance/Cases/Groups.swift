import Errand
import Testing

/// Groups: limits, shares and rules.
extension ConformanceCase {
    static let groups = groupLimits + groupShares + groupRules + groupPlaces

    private static let groupLimits: [ConformanceCase] = [
        ConformanceCase("no more jobs of a group are claimed at once than its rule allows") { fixture in
            try await fixture.setFlow("a*", FlowRule(atOnce: 2))
            try await fixture.pushGroups("a1", "a1", "a1", "a2", "b", "b", "b")
            let session = try await fixture.session()
            let claims = try await session.claim()
            #expect(fixture.groups(of: claims).sorted() == ["a1", "a1", "a2", "b", "b", "b"])
            #expect(try await fixture.group("a1") == GroupStatus(group: "a1", waiting: 1, held: 2, limit: 2))
            #expect(try await session.claim().isEmpty, "the group is full")
            #expect(try await fixture.status().ready == 1, "a job that is held back is ready")
            let ended = try #require(claims.first { fixture.group(of: $0) == "a1" })
            let answer = try await session.exchange(
                reports: [TestSession.outcome(.finished, ended)],
                wanted: 5
            )
            #expect(fixture.groups(of: answer.claims) == ["a1"], "the call that ends a claim may have the next job")
        },
        ConformanceCase("every way for a claim to end frees its slot, on both levels") { fixture in
            try await fixture.setFlow("*", FlowRule(atOnce: 1))
            try await fixture.setFlow("*/*", FlowRule(atOnce: 1))
            let session = try await fixture.session()
            let verbs: [(OutcomeReport.Verb, delay: Int?)] = [
                (.finished, nil), (.failed, nil), (.failed, 3_600_000), (.timedOut, nil), (.timedOut, 3_600_000),
                (.cancelled, nil), (.unroutable, nil), (.snoozed, 3_600_000), (.unreadable, nil), (.released, nil),
                (.groupRests, 1),
            ]
            for (number, (verb, delay)) in verbs.enumerated() {
                let id = "job\(number)"
                try await fixture.push(fixture.job(id, group: "a/x"))
                let claim = try await session.claimOne()
                #expect(try await fixture.held("a/x", "a") == [1, 1])
                try await session.report(verb, claim, retryDelay: delay)
                #expect(try await fixture.held("a/x", "a") == [0, 0], "\(verb)")
                _ = try await fixture.cancel(id)
            }
        },
        ConformanceCase("a slot is free when a claim is recovered, reconciled, released or overdue") { fixture in
            try await fixture.setFlow("a", FlowRule(atOnce: 1))
            try await fixture.pushGroups("a", "a")
            let live = try await fixture.session()
            let stuck = try await fixture.session(operations: [
                Fixture.operation: OperationDefaults(timeout: .milliseconds(1))
            ])
            let claim = try await live.claimOne()
            #expect(try await live.reconcile([]).released == 1)
            let again = try await live.claimOne()
            #expect(claim.id == again.id, "it is at the head of its group again")
            try await live.release()
            #expect(try await fixture.group("a").held == 0)
            let doomed = try await fixture.doomed()
            #expect(try await doomed.claimOne().id == claim.id)
            try await fixture.recover(1)
            #expect(try await fixture.group("a").held == 0)
            #expect(try await stuck.claimOne(wait: .zero).id == claim.id)
            try await fixture.eventually("the claim is overdue") {
                _ = try await fixture.broker.recover(on: fixture.queue)
                return try await fixture.group("a").held == 0
            }
        },
        ConformanceCase("both levels of a group have limits") { fixture in
            try await fixture.setFlow("a", FlowRule(atOnce: 3))
            try await fixture.setFlow("a/*", FlowRule(atOnce: 2))
            try await fixture.pushGroups("a/x", "a/x", "a/x", "a/y", "a/y", "a")
            let session = try await fixture.session()
            let claims = try await session.claim()
            #expect(claims.count == 3)
            #expect(fixture.groups(of: claims).count { $0 == "a/x" } <= 2)
            for claim in claims { try await session.report(.finished, claim) }
            #expect(try await session.claim().count == 3)
        },
        ConformanceCase("a full second part does not stop the others") { fixture in
            try await fixture.setFlow("a/x", FlowRule(atOnce: 1))
            try await fixture.pushGroups("a/x", "a/x", "a/x", "a/y", "a/y")
            let session = try await fixture.session()
            #expect(fixture.groups(of: try await session.claim()).sorted() == ["a/x", "a/y", "a/y"])
        },
        ConformanceCase("a changed limit applies from the next claim on, also to jobs that wait") { fixture in
            try await fixture.pushGroups("a", "a", "a", "a", "a")
            let session = try await fixture.session()
            let first = try await session.claim(2)
            #expect(first.count == 2)
            try await fixture.setFlow("a", FlowRule(atOnce: 1))
            #expect(try await session.claim().isEmpty)
            try await session.report(.finished, first[0])
            #expect(try await session.claim().isEmpty, "one claim is still held")
            try await session.report(.finished, first[1])
            #expect(try await session.claim().count == 1)
            try await fixture.setFlow("a", FlowRule(atOnce: 2))
            #expect(try await session.claim().count == 1)
            #expect(try await fixture.broker.deleteFlow(fixture.queue, matching: "a"))
            #expect(try await session.claim().count == 1, "without a rule nothing is held back")
        },
        ConformanceCase("a session that waits is woken when a slot is free") { fixture in
            try await fixture.setFlow("a", FlowRule(atOnce: 1))
            try await fixture.pushGroups("a", "a")
            let (busy, waiting) = (try await fixture.session(), try await fixture.session())
            let claim = try await busy.claimOne()
            try await fixture.awaitWakeUp(of: waiting) { try await busy.report(.finished, claim) }
            #expect(try await waiting.claim().count == 1)
        },
    ]

    private static let groupShares: [ConformanceCase] = [
        ConformanceCase("groups share claims equally, however many jobs they have") { fixture in
            try await fixture.pushGroups(Array(repeating: "a", count: 20))
            try await fixture.pushGroups(Array(repeating: "b", count: 5))
            let session = try await fixture.session()
            #expect(try await session.groups(8) == ["a", "b", "a", "b", "a", "b", "a", "b"])
        },
        ConformanceCase("a call that claims many jobs takes several of a group in its turn") { fixture in
            try await fixture.pushGroups(Array(repeating: "a", count: 6) + Array(repeating: "b", count: 4))
            let session = try await fixture.session()
            #expect(try await session.groups(128) == ["a", "a", "b", "b", "a", "a", "b", "b", "a", "a"])
            try await fixture.pushGroups(["a", "c", "c", "c"])
            #expect(try await session.groups(4) == ["c", "c", "a", "c"], "c enters where the last turn began")
        },
        ConformanceCase("groups of a queue with a rule give one job in their turn") { fixture in
            try await fixture.setFlow("none", FlowRule(weight: 2))
            try await fixture.pushGroups(Array(repeating: "a", count: 3) + Array(repeating: "b", count: 3))
            let session = try await fixture.session()
            #expect(try await session.groups(128) == ["a", "b", "a", "b", "a", "b"])
        },
        ConformanceCase("groups share claims in proportion to their weights") { fixture in
            try await fixture.setFlow("b", FlowRule(weight: 3))
            try await fixture.pushGroups(Array(repeating: "a", count: 12) + Array(repeating: "b", count: 12))
            let session = try await fixture.session()
            #expect(try await session.groups(8).count { $0 == "b" } == 6)
        },
        ConformanceCase("a job of a higher cost counts as several") { fixture in
            for number in 0..<9 {
                try await fixture.push(
                    fixture.job("a\(number)", group: "a", cost: 2),
                    fixture.job("b\(number)", group: "b")
                )
            }
            let session = try await fixture.session()
            #expect(try await session.groups(9).count { $0 == "b" } == 6)
        },
        ConformanceCase("a group that comes back does not make up for its absence") { fixture in
            try await fixture.pushGroups(Array(repeating: "a", count: 20))
            let session = try await fixture.session()
            #expect(try await session.groups(10).count == 10)
            try await fixture.pushGroups(Array(repeating: "b", count: 10))
            #expect(try await session.groups(6).count { $0 == "b" } == 3)
        },
        ConformanceCase("a group that has just had its share waits for its turn when it comes back") { fixture in
            try await fixture.pushGroups("a", "b", "b", "b", "c", "c", "c")
            let session = try await fixture.session()
            #expect(try await session.groups(2) == ["a", "b"])
            try await fixture.pushGroups("a")
            #expect(try await session.groups(2) == ["c", "a"])
        },
        ConformanceCase("jobs without a group are one group of their own") { fixture in
            for number in 0..<6 { try await fixture.pushPlain("p\(number)") }
            try await fixture.pushGroups(Array(repeating: "a", count: 6))
            let session = try await fixture.session()
            #expect(try await session.groups(6) == ["", "a", "", "a", "", "a"])
            #expect(try await session.groups(6) == ["", "a", "", "a", "", "a"])
        },
        ConformanceCase("first parts share equally, and second parts below them") { fixture in
            try await fixture.pushGroups(Array(repeating: "a/x", count: 8) + Array(repeating: "a/y", count: 8))
            try await fixture.pushGroups(Array(repeating: "a", count: 8) + Array(repeating: "b", count: 8))
            let session = try await fixture.session()
            let groups = try await session.groups(12)
            #expect(groups.count { $0 == "b" } == 6)
            #expect(["a", "a/x", "a/y"].allSatisfy { group in groups.count { $0 == group } == 2 })
        },
        ConformanceCase("priorities come before shares") { fixture in
            try await fixture.push(
                fixture.job("a0", priority: 9, group: "a"),
                fixture.job("a1", priority: 9, group: "a"),
                fixture.job("b0", group: "b"),
                fixture.job("p0", priority: 7)
            )
            #expect(try await fixture.session().claimedIDs() == ["a0", "a1", "p0", "b0"])
        },
        ConformanceCase("the jobs of a group are claimed in the order of their pushes") { fixture in
            for number in 0..<9 { try await fixture.push(fixture.job("a\(number)", group: "a")) }
            #expect(try await fixture.session().claimedIDs() == (0..<9).map { "a\($0)" })
        },
    ]

    private static let groupRules: [ConformanceCase] = [
        ConformanceCase("the rule with the longest text before its * applies") { fixture in
            try await fixture.setFlow("*", FlowRule(atOnce: 9))
            try await fixture.setFlow("te*", FlowRule(atOnce: 1))
            try await fixture.setFlow("tenant-*-eu", FlowRule(atOnce: 2))
            try await fixture.setFlow("tenant-7-eu", FlowRule(atOnce: 3))
            try await fixture.setFlow("*/*", FlowRule(atOnce: 4))
            try await fixture.setFlow("te*/u*", FlowRule(atOnce: 5))
            let expected: [(String, Int)] = [
                ("other", 9), ("team", 1), ("te", 1), ("tenant-7", 1), ("tenant-8-eu", 2), ("tenant-7-eu", 3),
                ("tenant--eu", 2), ("tenant-eu", 1), ("a/b", 4), ("team/user", 5), ("team/x", 4),
            ]
            for (group, limit) in expected { #expect(try await fixture.group(group).limit == limit, "\(group)") }
        },
        ConformanceCase("rules are listed, replaced and deleted") { fixture in
            try await fixture.setFlow("b*", FlowRule(atOnce: 2, weight: 7))
            try await fixture.setFlow("a", FlowRule())
            try await fixture.setFlow("b*", FlowRule(weight: 3))
            let rules = try await fixture.broker.flow(of: fixture.queue)
            #expect(rules.map(\.pattern) == ["a", "b*"])
            #expect(rules.map(\.rule) == [FlowRule(), FlowRule(weight: 3)])
            #expect(try await fixture.broker.deleteFlow(fixture.queue, matching: "a"))
            #expect(try await !fixture.broker.deleteFlow(fixture.queue, matching: "a"))
            #expect(try await fixture.broker.flow(of: fixture.queue).map(\.pattern) == ["b*"])
        },
        ConformanceCase("a rule that cannot be, or would tie with another, is refused") { fixture in
            try await fixture.setFlow("a*b", FlowRule(atOnce: 1))
            try await fixture.setFlow("a*b", FlowRule(atOnce: 2))
            try await fixture.setFlow("a*/b", FlowRule(atOnce: 2))
            for pattern in ["a*c", "a*", "/", "a/b/c", "a/", "a b", "ä*", String(repeating: "x", count: 65)] {
                await #expect(throws: BrokerError.self, "\(pattern)") {
                    try await fixture.setFlow(pattern, FlowRule(atOnce: 1))
                }
            }
            for rule in [FlowRule(atOnce: 0), FlowRule(atOnce: 1_000_001), FlowRule(weight: 0), FlowRule(weight: 1001)]
            {
                await #expect(throws: BrokerError.self, "\(rule)") { try await fixture.setFlow("c", rule) }
            }
            #expect(try await fixture.broker.flow(of: fixture.queue).map(\.pattern) == ["a*/b", "a*b"])
        },
        ConformanceCase("groups are shown by the number of their jobs") { fixture in
            try await fixture.pushGroups("a/x", "a/y", "a/y", "b", "b", "b", "c")
            let session = try await fixture.session()
            #expect(try await session.groups(1) == ["a/x"])
            #expect(
                try await fixture.broker.groups(of: fixture.queue, named: nil, most: 3) == [
                    GroupStatus(group: "b", waiting: 3, held: 0, limit: nil),
                    GroupStatus(group: "a/y", waiting: 2, held: 0, limit: nil),
                    GroupStatus(group: "c", waiting: 1, held: 0, limit: nil),
                ]
            )
            #expect(try await fixture.group("a") == GroupStatus(group: "a", waiting: 2, held: 1, limit: nil))
            #expect(try await fixture.group("none") == GroupStatus(group: "none", waiting: 0, held: 0, limit: nil))
        },
    ]

    private static let groupPlaces: [ConformanceCase] = [
        ConformanceCase("a job of a group is never dispatched directly") { fixture in
            let recorder = try await WakeUpRecorder(fixture)
            try await recorder.finishDispatchedJob()
            #expect(try await recorder.session.exchange(wanted: 1, acceptsDispatch: true).claims.isEmpty)
            try await fixture.pushGroups("a")
            #expect(try await fixture.group("a") == GroupStatus(group: "a", waiting: 1, held: 0, limit: nil))
        },
        ConformanceCase("an unroutable job of a group waits for its group when its operation is known") { fixture in
            try await fixture.setFlow("a", FlowRule(atOnce: 1))
            let ignorant = try await fixture.session()
            try await fixture.push(
                fixture.job("u", operation: "rare", group: "a"),
                fixture.job("b", group: "a")
            )
            try await ignorant.report(.unroutable, try await ignorant.claimOne())
            let claim = try await ignorant.claimOne()
            #expect(claim.id == "b")
            let expert = try await fixture.session(operations: ["rare": OperationDefaults()])
            #expect(try await expert.claimedIDs() == [], "its group is full")
            #expect(try await fixture.group("a") == GroupStatus(group: "a", waiting: 1, held: 1, limit: 1))
            try await ignorant.report(.finished, claim)
            #expect(try await expert.claimedIDs() == ["u"])
        },
        ConformanceCase("a quarantined job runs when its group has a slot") { fixture in
            try await fixture.push(fixture.job("poison", group: "a"))
            for crashes in 0..<3 { try await fixture.crash(["poison"], crashes: crashes) }
            try await fixture.setFlow("a", FlowRule(atOnce: 1))
            try await fixture.push(fixture.job("b", group: "a"), fixture.job("p"))
            let (one, other) = (try await fixture.session(), try await fixture.session())
            try await fixture.setFlow("a", FlowRule(atOnce: 1))
            let first = try await one.claimOne()
            #expect(first.id == "poison")
            try await one.report(.snoozed, first, retryDelay: 0)
            let second = try await other.claim()
            #expect(second.map(\.id) == ["p", "b"])
            _ = try await fixture.broker.promote(on: fixture.queue)
            #expect(try await fixture.session().claimedIDs() == [], "its group is full")
            for claim in second { try await other.report(.finished, claim) }
            #expect(try await one.claimedIDs() == ["poison"])
        },
        ConformanceCase("a session that waits is woken for a quarantined job when its group has a slot") { fixture in
            try await fixture.push(fixture.job("poison", group: "a"))
            for crashes in 0..<3 { try await fixture.crash(["poison"], crashes: crashes) }
            let (busy, waiting) = (try await fixture.session(), try await fixture.session())
            let poison = try await busy.claimOne()
            try await busy.report(.snoozed, poison, retryDelay: 0)
            try await fixture.setFlow("a", FlowRule(atOnce: 1))
            try await fixture.push(fixture.job("b", group: "a"))
            let claim = try await busy.claimOne()
            #expect(claim.id == "b")
            _ = try await fixture.broker.promote(on: fixture.queue)
            try await fixture.awaitWakeUp(of: waiting) { try await busy.report(.finished, claim) }
            #expect(try await waiting.claimedIDs() == ["poison"])
        },
        ConformanceCase("a replacement of the same group keeps the position, another does not") { fixture in
            try await fixture.push(fixture.job("old", .replace, group: "a"), fixture.job("b", group: "a"))
            try await fixture.push(fixture.job("new", .replace, group: "a"))
            #expect(try await fixture.group("a").waiting == 2)
            try await fixture.push(fixture.job("moved", .replace, name: "n", group: "a"), fixture.job("c", group: "a"))
            try await fixture.push(fixture.job("there", .replace, name: "n", group: "z"))
            #expect(try await fixture.group("a").waiting == 3)
            #expect(try await fixture.group("z").waiting == 1)
            #expect(try await fixture.session().claimedIDs() == ["new", "there", "b", "c"])
        },
        ConformanceCase("jobs of a group are cancelled, deleted, cleared and listed like others") { fixture in
            try await fixture.setFlow("f*", FlowRule(atOnce: 1))
            try await fixture.pushGroups("a", "a/x", "f1", "f1", "f1", "b")
            let session = try await fixture.session()
            #expect(try await session.groups(4).contains("f1"))
            try await fixture.pushGroups("a", "a/x", "b")
            let page = try await fixture.broker.jobs(in: .ready, on: fixture.queue, from: 0, count: 100)
            #expect(page.jobs.count == 5 && page.next == nil)
            #expect(try await fixture.status().ready == 5)
            let ids = page.jobs.map(\.id)
            #expect(try await fixture.cancel(ids[0]) == .cancelled)
            #expect(try await fixture.delete(ids[1]) == .deleted)
            var cleared = 0
            while case let count = try await fixture.broker.clear(fixture.queue), count > 0 { cleared += count }
            #expect(cleared == 3)
            #expect(try await fixture.status().ready == 0)
            #expect(
                try await fixture.broker.groups(of: fixture.queue, named: nil, most: 9).allSatisfy { $0.waiting == 0 }
            )
        },
        ConformanceCase("a group is empty after its last job is cancelled, and comes back") { fixture in
            try await fixture.push(fixture.job("a", group: "a/x"), fixture.job("p"))
            #expect(try await fixture.cancel("a") == .cancelled)
            #expect(try await fixture.broker.audit(fixture.queue, repair: false) == [])
            #expect(try await fixture.broker.groups(of: fixture.queue, named: nil, most: 9) == [])
            try await fixture.pushGroups("a/x")
            #expect(try await fixture.session().groups(9) == ["", "a/x"])
        },
        ConformanceCase("a job cancelled in the middle of a long group does not stop it") { fixture in
            for start in stride(from: 0, to: 1200, by: 400) {
                let jobs = try (start..<start + 400).map { try fixture.job("j\($0)", group: "a") }
                _ = try await fixture.broker.push(jobs, to: fixture.queue)
            }
            for id in ["j0", "j1", "j700", "j1199"] { #expect(try await fixture.cancel(id) == .cancelled) }
            let session = try await fixture.session()
            var ids: [String] = []
            while case let claims = try await session.claim(), !claims.isEmpty {
                ids += claims.map(\.id)
                _ = try await session.exchange(reports: claims.map { TestSession.outcome(.finished, $0) })
            }
            #expect(ids.count == 1196 && ids.first == "j2" && ids.last == "j1198")
            #expect(try await fixture.group("a").waiting == 0)
        },
        ConformanceCase("a retried, a due and a promoted job wait in their group") { fixture in
            try await fixture.setFlow("a", FlowRule(atOnce: 1))
            let session = try await fixture.session()
            try await fixture.push(fixture.job("dead", group: "a"))
            try await session.report(.failed, try await session.claimOne())
            try await fixture.push(fixture.job("due", delay: 1, group: "a"), fixture.job("b", group: "a"))
            #expect(try await fixture.retry("dead") == .retried)
            try await fixture.eventually("all are ready") {
                _ = try await fixture.broker.promote(on: fixture.queue)
                return try await fixture.group("a").waiting == 3
            }
            #expect(try await session.claim().count == 1)
        },
        ConformanceCase("a queue with groups is deleted as a whole") { fixture in
            try await fixture.setFlow("f", FlowRule(atOnce: 1))
            try await fixture.pushGroups("a/x", "f", "f", "b")
            _ = try await fixture.session().claim()
            #expect(try await fixture.broker.deleteQueue(fixture.queue, force: true) == .deleted(jobs: 4))
            #expect(try await fixture.broker.flow(of: fixture.queue) == [])
            // A worker that still serves the queue creates it again.
            _ = try await fixture.session()
            #expect(try await fixture.broker.groups(of: fixture.queue, named: nil, most: 9) == [])
            #expect(try await fixture.group("f") == GroupStatus(group: "f", waiting: 0, held: 0, limit: nil))
        },
    ]
}
