/// One page of the durable stream, as a broker answers it.
public struct EventPage: Sendable, Equatable {
    /// Events that were written together.
    public struct Entry: Sendable, Equatable {
        /// The last of them.
        public let last: EventCursor
        /// The events, each a line of JSON.
        public let lines: [[UInt8]]

        /// Makes an entry.
        public init(last: EventCursor, lines: [[UInt8]]) {
            self.last = last
            self.lines = lines
        }
    }

    /// How many events the queue keeps; 0 when it keeps none.
    public let kept: Int
    /// The last event that was ever written; `nil` when none was.
    public let last: EventCursor?
    /// The oldest first.
    public let entries: [Entry]

    /// Makes a page.
    public init(kept: Int, last: EventCursor?, entries: [Entry]) {
        self.kept = kept
        self.last = last
        self.entries = entries
    }
}

/// What it takes to read the durable stream of a queue's events.
public protocol StreamingBroker: WatchingBroker {
    /// The events after a cursor, as many as fit into a page.
    func eventPage(of queue: String, after cursor: EventCursor) async throws(BrokerError) -> EventPage

    /// The cursor that the broker keeps for a reader, `[A-Za-z0-9_.-]{1,128}`; `nil` when it keeps none.
    func cursor(of reader: String, on queue: String) async throws(BrokerError) -> EventCursor?

    /// Keeps how far a reader has come; within a numbering it only moves on. A queue keeps the cursors of 1,000 readers.
    func keep(_ cursor: EventCursor, of reader: String, on queue: String) async throws(BrokerError)
}
