/// An element of the durable stream of a queue's events.
public enum StreamedEvent: Sendable, Equatable {
    /// An event.
    case event(KeptEvent)
    /// Events are missing here: the broker no longer has them.
    case gap(EventGap)

    /// The position at which to continue after this element.
    public var cursor: EventCursor {
        switch self {
        case .event(let event): event.cursor
        case .gap(let gap): gap.cursor
        }
    }
}

/// An event of the durable stream.
public struct KeptEvent: Sendable, Equatable {
    /// The event.
    public let event: JobEvent
    /// The event as it was published: one line of JSON.
    public let line: [UInt8]
    /// Its position in the stream.
    public let cursor: EventCursor

    /// Makes an event, for tests of code that reads a stream.
    public init(event: JobEvent, line: [UInt8], cursor: EventCursor) {
        self.event = event
        self.line = line
        self.cursor = cursor
    }
}

/// Missing events in the durable stream.
public struct EventGap: Sendable, Equatable {
    /// The number of missing events; `nil` if it is unknown, because the broker has lost its numbering.
    public let lost: Int?
    /// The position before the next event.
    public let cursor: EventCursor

    /// Makes a gap, for tests of code that reads a stream.
    public init(lost: Int?, cursor: EventCursor) {
        self.lost = lost
        self.cursor = cursor
    }
}

/// Turns pages into events and gaps.
struct EventPageReading {
    private(set) var cursor: EventCursor

    init(after cursor: EventCursor) { self.cursor = cursor }

    /// Returns the events and gaps of a page after the cursor, and advances the cursor.
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

    /// Advances the cursor. Returns a gap if events between are missing.
    private mutating func jump(to next: EventCursor) -> [StreamedEvent] {
        let past = cursor
        guard past != next else { return [] }
        cursor = next
        // A reader that begins with the oldest event misses nothing.
        if past == .oldest { return [] }
        let isSameNumbering = past.epoch == next.epoch && past.number < next.number
        return [.gap(EventGap(lost: isSameNumbering ? Int(clamping: next.number &- past.number) : nil, cursor: next))]
    }
}
