import Errand
import Testing

/// The durable stream of events.
extension ConformanceCase {
    static let streams: [ConformanceCase] = [
        ConformanceCase("the stream keeps events for whoever comes later") { stage in
            try await stage.keepEvents(1000)
            let hand = try await stage.session()
            try await stage.pushPlain("a", "b", "c")
            let claims = try await hand.claim()
            try await hand.report(.failed, claims[0])
            let read = try await stage.read(after: .oldest, 2)
            #expect(read.words == ["failed a", "dead a"])
            // Many that finished at once are one entry; a reader that stopped within it goes on there.
            _ = try await hand.exchange(reports: claims[1...].map { Hand.outcome(.finished, $0) })
            let rest = try await stage.read(after: read[1].cursor, 2)
            #expect(rest.words == ["finished b", "finished c"])
            #expect(try await stage.read(after: rest[0].cursor, 1).words == ["finished c"])
            #expect(rest.map(\.cursor.number) == [3, 4])
        },
        ConformanceCase("the stream's events are those of the channel") { stage in
            try await stage.keepEvents(1000)
            try await stage.pushPlain("a", "b")
            for id in ["a", "b"] { _ = try await stage.cancel(id) }
            let published = try await stage.log.drain()
            let kept = try await stage.read(after: .oldest, 2)
            #expect(kept.words == published.map { "\($0.kind) \($0.id)" })
        },
        ConformanceCase("a page begins after its cursor, and tells each event once") { stage in
            try await stage.keepEvents(1000)
            for number in 0..<25 { _ = try await stage.cancelled(1, from: number) }
            let page = try await stage.broker.eventPage(of: stage.queue, after: .oldest)
            #expect(page.entries.map(\.last.number) == Array(1...25))
            let fifth = try #require(page.entries.dropFirst(4).first)
            let rest = try await stage.broker.eventPage(of: stage.queue, after: fifth.last)
            #expect(rest.entries.map(\.last.number) == Array(6...25))
        },
        ConformanceCase("more events of one call than fit into an entry are numbered without holes") { stage in
            try await stage.keepEvents(1000)
            let ids = (0..<200).map { "j\($0)" }
            _ = try await stage.broker.push(try ids.map { try stage.job($0) }, to: stage.queue)
            _ = try await stage.broker.cancel(ids, on: stage.queue)
            let read = try await stage.read(after: .oldest, 200)
            #expect(read.words == ids.map { "cancelled \($0)" })
            #expect(read.map(\.cursor.number) == Array(1...200))
        },
        ConformanceCase("whoever reads too late is told how much is missing") { stage in
            try await stage.keepEvents(50)
            let first = try await stage.cancelled(1)
            let start = try await stage.read(after: .oldest, 1)[0].cursor
            for round in 0..<40 { _ = try await stage.cancelled(50, from: 100 * (round + 1)) }
            let page = try await stage.broker.eventPage(of: stage.queue, after: start)
            let oldest = try #require(page.entries.first)
            #expect(page.last?.number == 2001)
            let read = try await stage.read(after: start, 2)
            guard case .gap(let gap) = read[0] else { return #expect(Bool(false), "no gap: \(read[0]), \(first)") }
            #expect(gap.lost == Int(oldest.last.number) - oldest.lines.count - 1)
            #expect(read[1].cursor.number == gap.cursor.number + 1)
            // What is asked for is kept, and not much more.
            let missing = try #require(gap.lost)
            #expect((1000...1950).contains(missing))
        },
        ConformanceCase("a reader from now on hears what happens from now on") { stage in
            try await stage.keepEvents(1000)
            _ = try await stage.cancelled(3)
            var events = stage.streaming.eventStream(of: stage.queue, after: nil).makeAsyncIterator()
            async let next = events.next()
            // Until the reader has asked, this is the past: so again and again.
            var pushed = 100
            let reading = Task { try await stage.read(after: nil, 1).words }
            try await stage.eventually("it reads", every: .milliseconds(50)) {
                _ = try await stage.cancelled(1, from: pushed)
                pushed += 1
                return try await stage.kept().count > 6
            }
            #expect(try await reading.value.first?.hasPrefix("cancelled j10") == true)
            #expect(try await next != nil)
        },
        ConformanceCase("a cursor of a numbering that is gone is a gap of unknown size") { stage in
            try await stage.keepEvents(1000)
            _ = try await stage.cancelled(2)
            let read = try await stage.read(after: EventCursor(epoch: 5, number: 7), 2)
            guard case .gap(let gap) = read[0] else { return #expect(Bool(false), "no gap") }
            #expect(gap.lost == nil)
            #expect(read[1].cursor.number == 1)
        },
        ConformanceCase("what happened while no events were kept is a gap") { stage in
            try await stage.keepEvents(1000)
            _ = try await stage.cancelled(2)
            let last = try #require(try await stage.read(after: .oldest, 2).last).cursor
            try await stage.keepEvents(0)
            _ = try await stage.cancelled(2, from: 10)
            try await stage.keepEvents(1000)
            _ = try await stage.cancelled(1, from: 20)
            let read = try await stage.read(after: last, 2)
            #expect(read.words == ["gap", "cancelled j20"])
        },
        ConformanceCase("a queue that keeps no events says so") { stage in
            var events = stage.streaming.eventStream(of: stage.queue, after: .oldest).makeAsyncIterator()
            await #expect { try await events.next() } throws: { "\($0)".contains("keeps no events") }
        },
        ConformanceCase("a reader's cursor is kept") { stage in
            let broker = stage.broker
            #expect(try await broker.cursor(of: "audit", on: stage.queue) == nil)
            let cursor = try #require(EventCursor("1700000000000-42"))
            try await broker.keep(cursor, of: "audit", on: stage.queue)
            #expect(try await broker.cursor(of: "audit", on: stage.queue) == cursor)
            #expect(try await broker.cursor(of: "other", on: stage.queue) == nil)
            try await broker.keep(EventCursor(epoch: cursor.epoch, number: 41), of: "audit", on: stage.queue)
            #expect(try await broker.cursor(of: "audit", on: stage.queue) == cursor, "a slower reader put it back")
            try await broker.keep(.oldest, of: "audit", on: stage.queue)
            #expect(try await broker.cursor(of: "audit", on: stage.queue) == .oldest)
            await #expect { try await broker.keep(cursor, of: "a b", on: stage.queue) } throws: {
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

extension Stage {
    fileprivate var streaming: any StreamingBroker { broker }

    fileprivate func keepEvents(_ count: Int) async throws {
        try await broker.configure(queue, QueueSettings(keptEvents: count))
    }

    /// The next so many events and gaps.
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

    /// Pushes and cancels jobs, one event each.
    fileprivate func cancelled(_ count: Int, from first: Int = 0) async throws -> [String] {
        let ids = (first..<first + count).map { "j\($0)" }
        _ = try await broker.push(try ids.map { try job($0) }, to: queue)
        for id in ids { _ = try await cancel(id) }
        return ids
    }
}
