import Errand
import Testing

extension ConformanceCase {
    static let identity = [
        ConformanceCase("the same id is one job while it is unfinished") { stage in
            let hand = try await stage.session()
            try await stage.pushPlain("a", "b", "c")
            let claims = try await hand.claim(2)
            try await hand.report(.failed, try #require(claims.last))
            try await stage.push(stage.job("later", delay: 3_600_000))
            for (id, state) in [("a", JobState.running), ("b", .dead), ("c", .ready), ("later", .scheduled)] {
                let receipt = try await stage.receipt(stage.job(id))
                #expect(receipt == Receipt(id: id, queue: stage.queue, outcome: .exists))
                #expect(try await stage.state(id) == state)
            }
            #expect(try await stage.total("pushed") == 4)
        },
        ConformanceCase("the same id is one job after it has ended") { stage in
            let hand = try await stage.session()
            try await stage.pushPlain("a", "b", "c")
            try await hand.report(.finished, try await hand.claimOne())
            #expect(try await stage.cancel("b") == .cancelled)
            #expect(try await stage.delete("c") == .deleted)
            try await stage.push(stage.job("d", .drop))
            try await stage.push(stage.job("e", .replace))
            for id in ["a", "b", "c", "d"] {
                #expect(try await stage.receipt(stage.job(id)).outcome == .exists)
            }
            #expect(
                try await stage.receipt(stage.job("d", .replace)).outcome == .exists,
                "an older replace stays absorbed"
            )
            #expect(try await hand.claimedIDs() == ["e"])
        },
        ConformanceCase("an id within a batch counts once") { stage in
            let receipts = try await stage.push(stage.job("a"), stage.job("a"), stage.job("b"), stage.job("a"))
            #expect(receipts.map(\.outcome) == [.accepted, .exists, .accepted, .exists])
            #expect(try await stage.session().claimedIDs() == ["a", "b"])
        },
        ConformanceCase("an id may come again when it is no longer remembered") { stage in
            try await stage.broker.configure(stage.queue, QueueSettings(rememberIDsMilliseconds: 1))
            try await stage.pushPlain("a")
            #expect(try await stage.cancel("a") == .cancelled)
            try await stage.eventually("a is forgotten") {
                try await stage.receipt(stage.job("a")).outcome == .accepted
            }
            #expect(try await stage.session().claimedIDs() == ["a"])
        },
        ConformanceCase("a job that left a long line is not handed out, and its id can come again") { stage in
            try await stage.broker.configure(stage.queue, QueueSettings(rememberIDsMilliseconds: 1))
            for hundred in 0..<15 {
                let ids = (0..<100).map { "j\(hundred * 100 + $0)" }
                _ = try await stage.broker.push(try ids.map { try stage.job($0) }, to: stage.queue)
            }
            #expect(try await stage.cancel("j700") == .cancelled)
            #expect(try await stage.status().ready == 1499)
            try await stage.eventually("j700 is forgotten") {
                try await stage.receipt(stage.job("j700")).outcome == .accepted
            }
            #expect(try await stage.status().ready == 1500)
            let hand = try await stage.session()
            var ids: [String] = []
            while case let claimed = try await hand.claimedIDs(200), !claimed.isEmpty { ids += claimed }
            #expect(ids.count == 1500)
            #expect(ids == (0..<1500).map { "j\($0)" }.filter { $0 != "j700" } + ["j700"])
        },
        ConformanceCase("an id that comes again takes nothing from the job that stands in its old place") { stage in
            try await stage.broker.configure(stage.queue, QueueSettings(rememberIDsMilliseconds: 1))
            try await stage.push(stage.job("a", .drop, name: "n"))
            try await stage.push(stage.job("b", .replace, name: "n"))
            try await stage.eventually("a is forgotten") {
                try await stage.receipt(stage.job("a", priority: 9)).outcome == .accepted
            }
            #expect(try await stage.state("a") == .ready)
            #expect(try await stage.cancel("a") == .cancelled)
            #expect(try await stage.broker.audit(stage.queue, repair: false) == [])
            #expect(try await stage.session().claimedIDs() == ["b"])
        },
        ConformanceCase("an id that is asked for twice in one call has ended the second time") { stage in
            try await stage.pushPlain("a", "b")
            #expect(try await stage.broker.delete(["a", "a"], on: stage.queue) == [.deleted, .ended])
            #expect(try await stage.broker.cancel(["b", "b"], on: stage.queue) == [.cancelled, .ended])
        },
        ConformanceCase("what is pushed is what is handed out") { stage in
            let envelope = try stage.job("a", .drop, name: "n\n\"\u{1F600}", timeout: .seconds(3), retries: 2)
            try await stage.push(envelope)
            let claim = try await stage.session().claimOne()
            #expect(Array(claim.body.dropFirst(13)) == envelope.bytes)
            let stored = try JobEnvelope.read(stored: claim.body)
            #expect(abs(stored.readySince - Stage.milliseconds) < 60_000)
            #expect(stored.retries == 2)
        },
        ConformanceCase("an empty push is no push") { stage in
            let receipts = try await stage.broker.push([], to: stage.queue)
            #expect(receipts == [])
        },
    ]
}
