import Errand
import Testing

/// Cases of the durable stream of events.
extension ConformanceCase {
    static let streams: [ConformanceCase] = [
        ConformanceCase("the stream keeps events for later readers") { fixture in
            try await fixture.keepEvents(1000)
            let session = try await fixture.session()
            try await fixture.pushPlain("a", "b", "c")
            let claims = try await session.claim()
            try await session.report(.failed, claims[0])
            let read = try await fixture.read(after: .oldest, 2)
            #expect(read.words == ["failed a", "dead a"])
            // Jobs that finish together are one entry. A reader that stopped within it continues there.
            _ = try await session.exchange(reports: claims[1...].map { TestSession.outcome(.finished, $0) })
            let rest = try await fixture.read(after: read[1].cursor, 2)
            #expect(rest.words == ["finished b", "finished c"])
            #expect(try await fixture.read(after: rest[0].cursor, 1).words == ["finished c"])
            #expect(rest.map(\.cursor.number) == [3, 4])
        },
        ConformanceCase("the stream's events are those of the channel") { fixture in
            try await fixture.keepEvents(1000)
            try await fixture.pushPlain("a", "b")
            for id in ["a", "b"] { _ = try await fixture.cancel(id) }
            let published = try await fixture.log.drain()
            let kept = try await fixture.read(after: .oldest, 2)
            #expect(kept.words == published.map { "\($0.kind) \($0.id)" })
        },
        ConformanceCase("a page begins after its cursor and has each event once") { fixture in
            try await fixture.keepEvents(1000)
            for number in 0..<25 { _ = try await fixture.cancelled(1, from: number) }
            let page = try await fixture.broker.eventPage(of: fixture.queue, after: .oldest)
            #expect(page.entries.map(\.last.number) == Array(1...25))
            let fifth = try #require(page.entries.dropFirst(4).first)
            let rest = try await fixture.broker.eventPage(of: fixture.queue, after: fifth.last)
            #expect(rest.entries.map(\.last.number) == Array(6...25))
        },
        ConformanceCase("events of one call that fill several entries are numbered without gaps") { fixture in
            try await fixture.keepEvents(1000)
            let ids = (0..<200).map { "j\($0)" }
            _ = try await fixture.broker.push(try ids.map { try fixture.job($0) }, to: fixture.queue)
            _ = try await fixture.broker.cancel(ids, on: fixture.queue)
            let read = try await fixture.read(after: .oldest, 200)
            #expect(read.words == ids.map { "cancelled \($0)" })
            #expect(read.map(\.cursor.number) == Array(1...200))
        },
        ConformanceCase("a reader that comes too late learns how many events are missing") { fixture in
            try await fixture.keepEvents(50)
            let first = try await fixture.cancelled(1)
            let start = try await fixture.read(after: .oldest, 1)[0].cursor
            for round in 0..<40 { _ = try await fixture.cancelled(50, from: 100 * (round + 1)) }
            let page = try await fixture.broker.eventPage(of: fixture.queue, after: start)
            let oldest = try #require(page.entries.first)
            #expect(page.last?.number == 2001)
            let read = try await fixture.read(after: start, 2)
            guard case .gap(let gap) = read[0] else { return #expect(Bool(false), "no gap: \(read[0]), \(first)") }
            #expect(gap.lost == Int(oldest.last.number) - oldest.lines.count - 1)
            #expect(read[1].cursor.number == gap.cursor.number + 1)
            // The stream keeps the requested number of events, and not many more.
            let missing = try #require(gap.lost)
            #expect((1000...1950).contains(missing))
        },
        ConformanceCase("a reader that starts now gets only later events") { fixture in
            try await fixture.keepEvents(1000)
            _ = try await fixture.cancelled(3)
            var events = fixture.streaming.eventStream(of: fixture.queue, after: nil).makeAsyncIterator()
            async let next = events.next()
            // Events before the reader's first request do not count, so publish until it receives one.
            var pushed = 100
            let reading = Task { try await fixture.read(after: nil, 1).words }
            try await fixture.eventually("it reads", every: .milliseconds(50)) {
                _ = try await fixture.cancelled(1, from: pushed)
                pushed += 1
                return try await fixture.kept().count > 6
            }
            #expect(try await reading.value.first?.hasPrefix("cancelled j10") == true)
            #expect(try await next != nil)
        },
        ConformanceCase("a cursor of an earlier epoch is a gap of unknown size") { fixture in
            try await fixture.keepEvents(1000)
            _ = try await fixture.cancelled(2)
            let read = try await fixture.read(after: EventCursor(epoch: 5, number: 7), 2)
            guard case .gap(let gap) = read[0] else { return #expect(Bool(false), "no gap") }
            #expect(gap.lost == nil)
            #expect(read[1].cursor.number == 1)
        },
        ConformanceCase("events from a time without a stream are a gap") { fixture in
            try await fixture.keepEvents(1000)
            _ = try await fixture.cancelled(2)
            let last = try #require(try await fixture.read(after: .oldest, 2).last).cursor
            try await fixture.keepEvents(0)
            _ = try await fixture.cancelled(2, from: 10)
            try await fixture.keepEvents(1000)
            _ = try await fixture.cancelled(1, from: 20)
            let read = try await fixture.read(after: last, 2)
            #expect(read.words == ["gap", "cancelled j20"])
        },
        ConformanceCase("a queue without a stream reports that it keeps no events") { fixture in
            var events = fixture.streaming.eventStream(of: fixture.queue, after: .oldest).makeAsyncIterator()
            await #expect { try await events.next() } throws: { "\($0)".contains("keeps no events") }
        },
        ConformanceCase("a reader's cursor is kept") { fixture in
            let broker = fixture.broker
            #expect(try await broker.cursor(of: "audit", on: fixture.queue) == nil)
            let cursor = try #require(EventCursor("1700000000000-42"))
            try await broker.keep(cursor, of: "audit", on: fixture.queue)
            #expect(try await broker.cursor(of: "audit", on: fixture.queue) == cursor)
            #expect(try await broker.cursor(of: "other", on: fixture.queue) == nil)
            try await broker.keep(EventCursor(epoch: cursor.epoch, number: 41), of: "audit", on: fixture.queue)
            #expect(try await broker.cursor(of: "audit", on: fixture.queue) == cursor, "a slower reader put it back")
            try await broker.keep(.oldest, of: "audit", on: fixture.queue)
            #expect(try await broker.cursor(of: "audit", on: fixture.queue) == .oldest)
            await #expect { try await broker.keep(cursor, of: "a b", on: fixture.queue) } throws: {
                ($0 as? BrokerError)?.code == .refused
            }
        },
    ]
}

extension [StreamedEvent] {
    fileprivate var words: [String] {
        map { next in
            guard case .event(let kept) = next else { return "gap" }
            return "\(kept.event.event ?? "") \(kept.event.id ?? "")"
        }
    }
}

extension Fixture {
    fileprivate var streaming: any StreamingBroker { broker }

    fileprivate func keepEvents(_ count: Int) async throws {
        try await broker.configure(queue, QueueSettings(keptEvents: count))
    }

    /// Reads this number of events and gaps.
    fileprivate func read(after cursor: EventCursor?, _ count: Int) async throws -> [StreamedEvent] {
        var read: [StreamedEvent] = []
        for try await next in streaming.eventStream(of: queue, after: cursor) {
            read.append(next)
            if read.count == count { break }
        }
        return read
    }

    fileprivate func kept() async throws -> [[UInt8]] {
        try await broker.eventPage(of: queue, after: .oldest).entries.flatMap(\.lines)
    }

    /// Pushes and cancels jobs, which publishes one event each.
    fileprivate func cancelled(_ count: Int, from first: Int = 0) async throws -> [String] {
        let ids = (first..<first + count).map { "j\($0)" }
        _ = try await broker.push(try ids.map { try job($0) }, to: queue)
        for id in ids { _ = try await cancel(id) }
        return ids
    }
}
