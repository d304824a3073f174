/// What comes out of the durable stream of a queue's events.
public enum StreamedEvent: Sendable, Equatable {
    /// An event.
    case event(KeptEvent)
    /// Events are missing here: the broker no longer kept them when they would have been read.
    case gap(EventGap)

    /// Where to go on after this.
    public var cursor: EventCursor {
        switch self {
        case .event(let event): event.cursor
        case .gap(let gap): gap.cursor
        }
    }
}

/// An event that the broker has kept.
public struct KeptEvent: Sendable, Equatable {
    /// What happened.
    public let event: JobEvent
    /// The event as it was published: one line of JSON.
    public let line: [UInt8]
    /// Its place in the stream.
    public let cursor: EventCursor

    /// Makes one, for tests of what is made of events.
    public init(event: JobEvent, line: [UInt8], cursor: EventCursor) {
        self.event = event
        self.line = line
        self.cursor = cursor
    }
}

/// A hole in what was read.
public struct EventGap: Sendable, Equatable {
    /// How many events are missing; `nil` when that cannot be told, because the broker has lost its numbering.
    public let lost: Int?
    /// The last event before those that come next.
    public let cursor: EventCursor

    /// Makes one, for tests of what is made of gaps.
    public init(lost: Int?, cursor: EventCursor) {
        self.lost = lost
        self.cursor = cursor
    }
}

/// Turns pages into events and gaps.
struct EventPageReading {
    private(set) var cursor: EventCursor

    init(after cursor: EventCursor) { self.cursor = cursor }

    /// What comes after the cursor, which moves on.
    mutating func take(_ page: EventPage) -> [StreamedEvent] {
        if page.entries.isEmpty { return page.last.map { jump(to: $0) } ?? [] }
        return page.entries.flatMap { take($0) }
    }

    private mutating func take(_ entry: EventPage.Entry) -> [StreamedEvent] {
        let first = entry.last.number &- Int64(entry.lines.count) &+ 1
        let before = EventCursor(epoch: entry.last.epoch, number: first &- 1)
        let isBehind = before.epoch != cursor.epoch || before.number > cursor.number
        let gap = isBehind ? jump(to: before) : []
        let events = entry.lines.enumerated().compactMap { offset, line -> StreamedEvent? in
            let place = EventCursor(epoch: entry.last.epoch, number: first &+ Int64(offset))
            guard place.number > cursor.number, let event = JobEvent(line: line) else { return nil }
            return .event(KeptEvent(event: event, line: line, cursor: place))
        }
        cursor = entry.last
        return gap + events
    }

    /// What is between the cursor and this one is gone, if anything is.
    private mutating func jump(to next: EventCursor) -> [StreamedEvent] {
        let past = cursor
        guard past != next else { return [] }
        cursor = next
        // Whoever begins with the oldest that there is misses nothing.
        if past == .oldest { return [] }
        let isSameNumbering = past.epoch == next.epoch && past.number < next.number
        return [.gap(EventGap(lost: isSameNumbering ? Int(clamping: next.number &- past.number) : nil, cursor: next))]
    }
}
