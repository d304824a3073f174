import Errand
import Testing

/// Ordered groups.
extension ConformanceCase {
    static let orders = [
        ConformanceCase("the jobs of an ordered group start one after the other, whatever their priorities") {
            fixture in
            try await fixture.setFlow("a", FlowRule(order: .holdDead))
            try await fixture.push(
                fixture.job("one", priority: 1, group: "a"),
                fixture.job("two", priority: 9, group: "a"),
                fixture.job("three", group: "a"),
                fixture.job("b", group: "b")
            )
            let session = try await fixture.session()
            let first = try await session.claim()
            #expect(first.map(\.id).sorted() == ["b", "one"])
            #expect(try await fixture.group("a").limit == 1)
            var ended = try #require(first.first { $0.id == "one" })
            for id in ["two", "three"] {
                let next = try await session.exchange(reports: [TestSession.outcome(.finished, ended)], wanted: 9)
                #expect(next.claims.map(\.id) == [id])
                ended = try #require(next.claims.first)
            }
        },
        ConformanceCase("an ordered group waits for a job that is retried or snoozed, which runs first") { fixture in
            try await fixture.setFlow("a", FlowRule(order: .skipDead))
            for verb in [OutcomeReport.Verb.failed, .timedOut, .snoozed] {
                let session = try await fixture.session()
                try await fixture.push(fixture.job("\(verb)-1", group: "a"), fixture.job("\(verb)-2", group: "a"))
                try await session.report(verb, try await session.claimOne(), retryDelay: 0)
                #expect(try await session.claim().isEmpty, "\(verb)")
                #expect(try await fixture.group("a").blocker == "\(verb)-1")
                #expect(try await fixture.broker.promote(on: fixture.queue).promoted == 1)
                #expect(try await fixture.group("a").blocker == nil)
                let again = try await session.claimOne()
                #expect(again.id == "\(verb)-1")
                try await session.report(.finished, again)
                let second = try await session.claimOne()
                #expect(second.id == "\(verb)-2")
                try await session.report(.finished, second)
            }
        },
        ConformanceCase("an ordered group keeps its order when a claim is released or recovered") { fixture in
            try await fixture.setFlow("a", FlowRule(order: .holdDead))
            try await fixture.push(fixture.job("one", group: "a"), fixture.job("two", group: "a"))
            let session = try await fixture.session()
            try await session.report(.released, try await session.claimOne())
            #expect(try await session.claimOne().id == "one")
            #expect(try await session.reconcile([]).released == 1)
            #expect(try await session.claimOne().id == "one")
            try await session.release()
            let doomed = try await fixture.doomed()
            #expect(try await doomed.claimOne().id == "one")
            try await fixture.recover(1)
            #expect(try await fixture.session().claimedIDs() == ["one"])
        },
        ConformanceCase("an ordered group waits for an unroutable job") { fixture in
            try await fixture.setFlow("a", FlowRule(order: .holdDead))
            try await fixture.push(fixture.job("one", operation: "rare", group: "a"), fixture.job("two", group: "a"))
            let session = try await fixture.session()
            try await session.report(.unroutable, try await session.claimOne())
            #expect(try await session.claim().isEmpty)
            let expert = try await fixture.session(operations: ["rare": OperationDefaults()])
            let first = try await expert.claim()
            #expect(first.map(\.id) == ["one"])
            try await expert.report(.finished, first[0])
            #expect(try await session.claimedIDs() == ["two"])
        },
        ConformanceCase("an ordered group waits for a quarantined job") { fixture in
            try await fixture.setFlow("a", FlowRule(order: .holdDead))
            try await fixture.push(fixture.job("poison", group: "a"))
            for crashes in 0..<3 { try await fixture.crash(["poison"], crashes: crashes) }
            try await fixture.push(fixture.job("two", group: "a"), fixture.job("p"))
            let session = try await fixture.session()
            let first = try await session.claim()
            #expect(first.map(\.id) == ["poison"])
            try await session.report(.snoozed, first[0], retryDelay: 0)
            #expect(try await session.claimedIDs() == ["p"])
            _ = try await fixture.broker.promote(on: fixture.queue)
            let other = try await fixture.session()
            let again = try await other.claim()
            #expect(again.map(\.id) == ["poison"])
            try await other.report(.finished, again[0])
            #expect(try await other.claimedIDs() == ["two"])
        },
        ConformanceCase("a dead job holds an ordered group until it is retried or deleted, or is skipped") { fixture in
            try await fixture.setFlow("hold", FlowRule(order: .holdDead))
            try await fixture.setFlow("skip", FlowRule(order: .skipDead))
            for group in ["hold", "skip"] {
                let jobs = try (1...3).map { try fixture.job("\(group)\($0)", group: group) }
                _ = try await fixture.broker.push(jobs, to: fixture.queue)
            }
            let session = try await fixture.session()
            for claim in try await session.claim() { try await session.report(.failed, claim) }
            #expect(try await session.claimedIDs() == ["skip2"])
            #expect(try await fixture.group("hold").blocker == "hold1")
            #expect(try await fixture.retry("hold1") == .retried)
            let again = try await session.claimOne()
            #expect(again.id == "hold1", "it is the first one again")
            try await session.report(.failed, again)
            #expect(try await session.claim().isEmpty)
            #expect(try await fixture.delete("hold1") == .deleted)
            #expect(try await session.claimedIDs() == ["hold2"])
        },
        ConformanceCase("an ordered group goes on when the job that it waits for is cancelled or replaced") { fixture in
            try await fixture.setFlow("a", FlowRule(order: .holdDead))
            try await fixture.push(fixture.job("one", .replace, name: "n", group: "a"), fixture.job("two", group: "a"))
            let session = try await fixture.session()
            try await session.report(.snoozed, try await session.claimOne(), retryDelay: 3_600_000)
            try await fixture.push(fixture.job("newer", .replace, name: "n", group: "a"))
            let second = try await session.claimOne()
            #expect(second.id == "two")
            try await session.report(.snoozed, second, retryDelay: 3_600_000)
            #expect(try await session.claim().isEmpty)
            #expect(try await fixture.cancel("two") == .cancelled)
            #expect(try await session.claimedIDs() == ["newer"])
        },
        ConformanceCase("a successor of a job of another group does not overtake the jobs of an ordered group") {
            fixture in
            try await fixture.setFlow("a", FlowRule(order: .holdDead))
            try await fixture.push(fixture.job("holder", .replace, name: "n", group: "b"))
            let session = try await fixture.session()
            let holder = try await session.claimOne()
            try await fixture.push(fixture.job("one", group: "a"))
            try await fixture.push(fixture.job("successor", .replace, name: "n", group: "a"))
            try await session.report(.released, holder)
            #expect(try await session.claimOne().id == "one")
        },
        ConformanceCase("a rule that ends the order of a group lets it go on") { fixture in
            try await fixture.setFlow("a", FlowRule(order: .holdDead))
            try await fixture.push(
                fixture.job("one", group: "a"),
                fixture.job("two", priority: 9, group: "a"),
                fixture.job("three", priority: 9, group: "a")
            )
            let session = try await fixture.session()
            try await session.report(.snoozed, try await session.claimOne(), retryDelay: 3_600_000)
            #expect(try await session.claim().isEmpty)
            _ = try await fixture.broker.deleteFlow(fixture.queue, matching: "a")
            // They stay in the list in which they wait.
            #expect(try await fixture.cancel("three") == .cancelled)
            #expect(try await session.claimedIDs() == ["two"])
            #expect(try await fixture.broker.audit(fixture.queue, repair: false) == [])
        },
        ConformanceCase("delayed jobs of an ordered group start in the order of their due times") { fixture in
            try await fixture.setFlow("a", FlowRule(order: .holdDead))
            try await fixture.push(
                fixture.job("late", delay: 400, group: "a"),
                fixture.job("soon", delay: 1, group: "a")
            )
            try await fixture.eventually("both are due") {
                _ = try await fixture.broker.promote(on: fixture.queue)
                return try await fixture.group("a").waiting == 2
            }
            #expect(try await fixture.session().claimedIDs() == ["soon"])
        },
        ConformanceCase("an order that cannot be is refused") { fixture in
            for (pattern, rule) in [
                ("", FlowRule(order: .holdDead)), ("", FlowRule(weight: 2)),
                ("a", FlowRule(atOnce: 2, order: .holdDead)),
            ] {
                await #expect(throws: BrokerError.self, "\(rule)") { try await fixture.setFlow(pattern, rule) }
            }
            for rule in [FlowRule(order: .holdDead), FlowRule(weight: 3, order: .skipDead)] {
                try await fixture.setFlow("a", rule)
                #expect(try await fixture.broker.flow(of: fixture.queue).map(\.rule) == [rule])
            }
        },
    ]
}
