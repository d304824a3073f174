import Errand
import Synchronization
import Testing

extension ConformanceCase {
    static let events = [
        ConformanceCase("an event is one line of JSON, as documented") { fixture in
            let session = try await fixture.session()
            try await fixture.push(fixture.job("a", .drop, name: "n \"x\" \u{E9}"))
            try await session.report(.failed, try await session.claimOne(), error: "line\n\"quoted\"", retryDelay: 0)
            let events = try await fixture.log.drain()
            let lines = try await fixture.log.linesSoFar().map { String(decoding: $0, as: UTF8.self) }
            let event = try #require(events.first)
            let expected =
                #"{"event":"failed","id":"a","operation":"work","name":"n \"x\" é","queue":""# + fixture.queue
                + #"","attempt":1,"worker":""# + session.id + #"","at_ms":\#(event.time),"duration_ms":7,"#
                + #""error":"line\n\"quoted\""}"#
            #expect(lines.first == expected)
            #expect(abs(event.time - Fixture.milliseconds) < 60_000)
            #expect(events.map(\.error) == ["line\n\"quoted\"", nil])
            #expect(events.map(\.kind) == ["failed", "retrying"])
        },
        ConformanceCase("an event of a job without a run has no worker") { fixture in
            try await fixture.push(fixture.job("a"))
            #expect(try await fixture.cancel("a") == .cancelled)
            let event = try #require(try await fixture.log.drain().first)
            #expect(event.worker == nil)
            #expect(event.attempt == 0)
            #expect(event.name == nil)
            #expect(event.operation == "work")
        },
        ConformanceCase("many events of one call all arrive, in their order") { fixture in
            let session = try await fixture.session()
            let ids = (0..<400).map { "j\($0)" }
            _ = try await fixture.broker.push(try ids.map { try fixture.job($0) }, to: fixture.queue)
            var claims: [Claim] = []
            while case let more = try await session.claim(400), !more.isEmpty { claims += more }
            let reports = claims.map { TestSession.outcome(.finished, $0) }
            _ = try await session.exchange(reports: reports)
            #expect(try await fixture.news() == ids.map { "finished \($0)" })
        },
        ConformanceCase("a subscription to every queue includes this one") { fixture in
            let stream = fixture.broker.events(of: nil)
            let heard = Mutex(false)
            let reader = Task {
                for try await message in stream where message.queue == fixture.queue { heard.withLock { $0 = true } }
            }
            defer { reader.cancel() }
            var number = 0
            try await fixture.eventually("an event comes", every: .milliseconds(20)) {
                number += 1
                try await fixture.pushPlain("j\(number)")
                _ = try await fixture.cancel("j\(number)")
                return heard.withLock { $0 }
            }
        },
    ]
}
