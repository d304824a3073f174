import Errand
import Testing

extension ConformanceCase {
    static let identity = [
        ConformanceCase("the same id is one job while it is unfinished") { fixture in
            let session = try await fixture.session()
            try await fixture.pushPlain("a", "b", "c")
            let claims = try await session.claim(2)
            try await session.report(.failed, try #require(claims.last))
            try await fixture.push(fixture.job("later", delay: 3_600_000))
            for (id, state) in [("a", JobState.running), ("b", .dead), ("c", .ready), ("later", .scheduled)] {
                let receipt = try await fixture.receipt(fixture.job(id))
                #expect(receipt == Receipt(id: id, queue: fixture.queue, outcome: .exists))
                #expect(try await fixture.state(id) == state)
            }
            #expect(try await fixture.total("pushed") == 4)
        },
        ConformanceCase("the same id is one job after it has ended") { fixture in
            let session = try await fixture.session()
            try await fixture.pushPlain("a", "b", "c")
            try await session.report(.finished, try await session.claimOne())
            #expect(try await fixture.cancel("b") == .cancelled)
            #expect(try await fixture.delete("c") == .deleted)
            try await fixture.push(fixture.job("d", .drop))
            try await fixture.push(fixture.job("e", .replace))
            for id in ["a", "b", "c", "d"] {
                #expect(try await fixture.receipt(fixture.job(id)).outcome == .exists)
            }
            #expect(
                try await fixture.receipt(fixture.job("d", .replace)).outcome == .exists,
                "an older replace stays absorbed"
            )
            #expect(try await session.claimedIDs() == ["e"])
        },
        ConformanceCase("an id within a batch counts once") { fixture in
            let receipts = try await fixture.push(
                fixture.job("a"),
                fixture.job("a"),
                fixture.job("b"),
                fixture.job("a")
            )
            #expect(receipts.map(\.outcome) == [.accepted, .exists, .accepted, .exists])
            #expect(try await fixture.session().claimedIDs() == ["a", "b"])
        },
        ConformanceCase("an id may be pushed again when it is no longer remembered") { fixture in
            try await fixture.broker.configure(fixture.queue, QueueSettings(rememberIDsMilliseconds: 1))
            try await fixture.pushPlain("a")
            #expect(try await fixture.cancel("a") == .cancelled)
            try await fixture.eventually("a is forgotten") {
                try await fixture.receipt(fixture.job("a")).outcome == .accepted
            }
            #expect(try await fixture.session().claimedIDs() == ["a"])
        },
        ConformanceCase("a job that has left a long ready list is not claimed, and its id can be pushed again") {
            fixture in
            try await fixture.broker.configure(fixture.queue, QueueSettings(rememberIDsMilliseconds: 1))
            for hundred in 0..<15 {
                let ids = (0..<100).map { "j\(hundred * 100 + $0)" }
                _ = try await fixture.broker.push(try ids.map { try fixture.job($0) }, to: fixture.queue)
            }
            #expect(try await fixture.cancel("j700") == .cancelled)
            #expect(try await fixture.status().ready == 1499)
            try await fixture.eventually("j700 is forgotten") {
                try await fixture.receipt(fixture.job("j700")).outcome == .accepted
            }
            #expect(try await fixture.status().ready == 1500)
            let session = try await fixture.session()
            var ids: [String] = []
            while case let claimed = try await session.claimedIDs(200), !claimed.isEmpty { ids += claimed }
            #expect(ids.count == 1500)
            #expect(ids == (0..<1500).map { "j\($0)" }.filter { $0 != "j700" } + ["j700"])
        },
        ConformanceCase("an id that is pushed again does not affect the job that has its old position") { fixture in
            try await fixture.broker.configure(fixture.queue, QueueSettings(rememberIDsMilliseconds: 1))
            try await fixture.push(fixture.job("a", .drop, name: "n"))
            try await fixture.push(fixture.job("b", .replace, name: "n"))
            try await fixture.eventually("a is forgotten") {
                try await fixture.receipt(fixture.job("a", priority: 9)).outcome == .accepted
            }
            #expect(try await fixture.state("a") == .ready)
            #expect(try await fixture.cancel("a") == .cancelled)
            #expect(try await fixture.broker.audit(fixture.queue, repair: false) == [])
            #expect(try await fixture.session().claimedIDs() == ["b"])
        },
        ConformanceCase("an id that appears twice in one call has ended the second time") { fixture in
            try await fixture.pushPlain("a", "b")
            #expect(try await fixture.broker.delete(["a", "a"], on: fixture.queue) == [.deleted, .ended])
            #expect(try await fixture.broker.cancel(["b", "b"], on: fixture.queue) == [.cancelled, .ended])
        },
        ConformanceCase("a claim has the envelope that was pushed") { fixture in
            let envelope = try fixture.job("a", .drop, name: "n\n\"\u{1F600}", timeout: .seconds(3), retries: 2)
            try await fixture.push(envelope)
            let claim = try await fixture.session().claimOne()
            #expect(Array(claim.body.dropFirst(13)) == envelope.bytes)
            let stored = try JobEnvelope.read(stored: claim.body)
            #expect(abs(stored.readySince - Fixture.milliseconds) < 60_000)
            #expect(stored.retries == 2)
        },
        ConformanceCase("an empty push changes nothing") { fixture in
            let receipts = try await fixture.broker.push([], to: fixture.queue)
            #expect(receipts == [])
        },
    ]
}
