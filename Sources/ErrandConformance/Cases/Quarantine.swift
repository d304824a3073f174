import Errand
import Testing

extension ConformanceCase {
    static let quarantine = [
        ConformanceCase("a job that three workers died with is handed out alone, and dead after four more") { stage in
            let live = try await stage.session()
            try await stage.pushPlain("poison")
            for crashes in 0..<3 { try await stage.crash(["poison"], crashes: crashes) }
            #expect(try await stage.status().ready == 1)
            try await stage.pushPlain("innocent")

            for alone in 0..<4 {
                let doomed = try await stage.doomed()
                let claims = try await doomed.claim()
                #expect(claims.map(\.id) == ["poison"], "nothing else beside it")
                #expect(claims.map(\.crashes) == [3 + alone])
                #expect(try await doomed.claim().isEmpty, "nothing else while it is held")
                if alone == 0 { #expect(try await live.claimedIDs() == ["innocent"], "others go on") }
                try await stage.recover(1)
            }

            #expect(try await stage.state("poison") == .dead)
            let record = try #require(try await stage.record("poison"))
            #expect(record.failures == 0)
            #expect(record.crashes == 7)
            let reason = String(decoding: record.lastEvent, as: UTF8.self)
            #expect(reason.contains("its worker died 7 times while running it, 4 of them with nothing else"))
            let news = try await stage.news()
            #expect(news == Array(repeating: "recovered poison", count: 7) + ["dead poison"])
            #expect(try await stage.session().claimedIDs() == [])
        },
        ConformanceCase("a neighbour of a poisonous job is cleared when it runs alone") { stage in
            try await stage.pushPlain("a", "b")
            for crashes in 0..<3 { try await stage.crash(["a", "b"], crashes: crashes) }
            let hand = try await stage.session()
            let first = try await hand.claim()
            #expect(first.count == 1)
            try await hand.report(.finished, try #require(first.first))
            let second = try await hand.claim()
            #expect(second.count == 1)
            try await hand.report(.finished, try #require(second.first))
            try await stage.pushPlain("c", "d")
            #expect(try await hand.claimedIDs() == ["c", "d"], "the line is open again")
        },
        ConformanceCase("a session that holds jobs gets no suspect beside them") { stage in
            try await stage.pushPlain("poison")
            for crashes in 0..<3 { try await stage.crash(["poison"], crashes: crashes) }
            // Whoever asks first serves the suspects; another one can have the rest.
            let (server, other) = (try await stage.session(), try await stage.session())
            #expect(try await server.claimedIDs() == ["poison"])
            try await stage.pushPlain("a")
            #expect(try await other.claimedIDs() == ["a"])
            #expect(try await stage.cancel("poison") == .stopping)
        },
        ConformanceCase("a suspect that was parked is served alone by a session that knows its operation") { stage in
            let ignorant = try await stage.session(operations: [:])
            let knowing = try await stage.session()
            try await stage.pushPlain("poison")
            for crashes in 0..<3 { try await stage.crash(["poison"], crashes: crashes) }
            try await ignorant.report(.parked, try await ignorant.claimOne())
            try await stage.pushPlain("a", "b")
            let beside = try await knowing.claimOne()
            #expect(beside.id == "a", "not beside others")
            #expect(try await ignorant.claimedIDs() == ["b"], "and not by one who parks it again")
            #expect(try await knowing.claimedIDs() == [], "nothing new while it waits for its turn")
            #expect(try await ignorant.claimedIDs() == [], "it is the other one's to serve")
            try await knowing.report(.finished, beside)
            let suspect = try await knowing.claimOne()
            #expect(suspect.id == "poison")
            try await stage.pushPlain("c")
            #expect(try await knowing.claimedIDs() == [])
            try await knowing.report(.finished, suspect)
            #expect(try await knowing.claimedIDs() == ["c"])
        },
        ConformanceCase("a parked suspect waits in its line while another session serves suspects") { stage in
            let ignorant = try await stage.session(operations: [:])
            try await stage.pushPlain("p", "q")
            for crashes in 0..<3 { try await stage.crash(["p", "q"], crashes: crashes) }
            let parked = try await ignorant.claimOne()
            try await ignorant.report(.parked, parked)
            let served = try await ignorant.claimOne()
            #expect(Set([parked.id, served.id]) == ["p", "q"])
            let knowing = try await stage.session()
            #expect(try await knowing.claimedIDs() == [], "one session at a time serves suspects")
            try await ignorant.report(.finished, served)
            #expect(try await ignorant.claimedIDs() == [])
            #expect(try await knowing.claimedIDs() == [parked.id])
        },
        ConformanceCase("an idle session takes the suspects over from one that still holds other jobs") { stage in
            let busy = try await stage.session()
            try await stage.pushPlain("a")
            _ = try await busy.claimOne()
            try await stage.pushPlain("poison")
            for crashes in 0..<3 { try await stage.crash(["poison"], crashes: crashes) }
            #expect(try await busy.claimedIDs() == [], "first it is to come to an end with what it holds")
            let stranger = try await stage.session(operations: [:])
            #expect(try await stranger.claimedIDs() == [], "who does not know the operation would only park it")
            let idle = try await stage.session()
            #expect(try await idle.claimedIDs() == ["poison"])
            try await stage.pushPlain("b", "c")
            #expect(try await stranger.claim(1).map(\.id) == ["b"])
            #expect(try await busy.claimedIDs() == ["c"], "it has nothing to do with suspects any more")
        },
        ConformanceCase("two busy sessions do not take the suspects from each other") { stage in
            let (first, second) = (try await stage.session(), try await stage.session())
            try await stage.pushPlain("a", "b")
            let held = try await first.claim(1)
            #expect(try await second.claim(1).map(\.id) == ["b"])
            try await stage.pushPlain("poison")
            for crashes in 0..<3 { try await stage.crash(["poison"], crashes: crashes) }
            try await stage.pushPlain("c")
            #expect(try await first.claimedIDs() == [])
            #expect(try await second.claimedIDs() == ["c"], "the other one is to serve it")
            try await first.report(.finished, try #require(held.first))
            #expect(try await first.claimedIDs() == ["poison"])
        },
        ConformanceCase("a suspect that is cancelled holds nobody up") { stage in
            let busy = try await stage.session()
            try await stage.pushPlain("a")
            _ = try await busy.claimOne()
            try await stage.pushPlain("poison")
            for crashes in 0..<3 { try await stage.crash(["poison"], crashes: crashes) }
            #expect(try await busy.claimedIDs() == [])
            #expect(try await stage.cancel("poison") == .cancelled)
            try await stage.pushPlain("b")
            #expect(try await busy.claimedIDs() == ["b"])
        },
        ConformanceCase("a suspect that is released stays one, and a revived one is none") { stage in
            try await stage.pushPlain("poison")
            for crashes in 0..<3 { try await stage.crash(["poison"], crashes: crashes) }
            let hand = try await stage.session()
            try await hand.report(.released, try await hand.claimOne())
            try await stage.pushPlain("a")
            let claim = try await hand.claimOne()
            #expect(claim.id == "poison")
            try await hand.report(.failed, claim)
            #expect(try await stage.revive("poison") == .revived)
            #expect(try await hand.claimedIDs() == ["a", "poison"])
            #expect(try await stage.record("poison")?.crashes == 0)
        },
    ]
}

extension Stage {
    /// A worker claims exactly these jobs, begins them and dies.
    fileprivate func crash(_ ids: [String], crashes: Int) async throws {
        let doomed = try await doomed()
        let claims = try await doomed.claim()
        #expect(claims.map(\.id).sorted() == ids)
        #expect(claims.allSatisfy { $0.crashes == crashes })
        try await recover(ids.count)
    }
}
