import Errand
import Synchronization
import Testing

extension ConformanceCase {
    static let events = [
        ConformanceCase("an event is one line of JSON as the contract has it") { stage in
            let hand = try await stage.session()
            try await stage.push(stage.job("a", .drop, name: "n \"x\" \u{E9}"))
            try await hand.report(.failed, try await hand.claimOne(), error: "line\n\"quoted\"", retryDelay: 0)
            let events = try await stage.log.drain()
            let lines = try await stage.log.linesSoFar().map { String(decoding: $0, as: UTF8.self) }
            let event = try #require(events.first)
            let expected =
                #"{"event":"failed","id":"a","operation":"work","name":"n \"x\" é","queue":""# + stage.queue
                + #"","attempt":1,"worker":""# + hand.id + #"","at_ms":\#(event.time),"duration_ms":7,"#
                + #""error":"line\n\"quoted\""}"#
            #expect(lines.first == expected)
            #expect(abs(event.time - Stage.milliseconds) < 60_000)
            #expect(events.map(\.error) == ["line\n\"quoted\"", nil])
            #expect(events.map(\.kind) == ["failed", "retrying"])
        },
        ConformanceCase("an event of a job without a run has no worker") { stage in
            try await stage.push(stage.job("a"))
            #expect(try await stage.cancel("a") == .cancelled)
            let event = try #require(try await stage.log.drain().first)
            #expect(event.worker == nil)
            #expect(event.attempt == 0)
            #expect(event.name == nil)
            #expect(event.operation == "work")
        },
        ConformanceCase("many events of one call all arrive, in their order") { stage in
            let hand = try await stage.session()
            let ids = (0..<400).map { "j\($0)" }
            _ = try await stage.broker.push(try ids.map { try stage.job($0) }, to: stage.queue)
            var claims: [Claim] = []
            while case let more = try await hand.claim(400), !more.isEmpty { claims += more }
            let reports = claims.map { Hand.outcome(.finished, $0) }
            _ = try await hand.exchange(reports: reports)
            #expect(try await stage.news() == ids.map { "finished \($0)" })
        },
        ConformanceCase("who listens to every queue hears this one") { stage in
            let stream = stage.broker.events(of: nil)
            let heard = Mutex(false)
            let reader = Task {
                for try await message in stream where message.queue == stage.queue { heard.withLock { $0 = true } }
            }
            defer { reader.cancel() }
            var number = 0
            try await stage.eventually("an event comes", every: .milliseconds(20)) {
                number += 1
                try await stage.pushPlain("j\(number)")
                _ = try await stage.cancel("j\(number)")
                return heard.withLock { $0 }
            }
        },
    ]
}
