/// One page of the durable stream.
public struct EventPage: Sendable, Equatable {
    /// Events that were written together.
    public struct Entry: Sendable, Equatable {
        /// The cursor of the last of them.
        public let last: EventCursor
        /// The events, each a line of JSON.
        public let lines: [[UInt8]]

        /// Makes an entry.
        public init(last: EventCursor, lines: [[UInt8]]) {
            self.last = last
            self.lines = lines
        }
    }

    /// The number of events that the queue keeps; 0 if it keeps none.
    public let kept: Int
    /// The cursor of the last event that was ever written; `nil` if there was none.
    public let last: EventCursor?
    /// The entries, the oldest first.
    public let entries: [Entry]

    /// Makes a page.
    public init(kept: Int, last: EventCursor?, entries: [Entry]) {
        self.kept = kept
        self.last = last
        self.entries = entries
    }
}

/// The part of a broker that reads the durable stream of a queue's events.
public protocol StreamingBroker: WatchingBroker {
    /// Returns the events after a cursor, as many as fit into a page.
    func eventPage(of queue: String, after cursor: EventCursor) async throws(BrokerError) -> EventPage

    /// Returns the stored cursor of a reader, `[A-Za-z0-9_.-]{1,128}`; `nil` if there is none.
    func cursor(of reader: String, on queue: String) async throws(BrokerError) -> EventCursor?

    /// Stores a reader's cursor; within a numbering it only advances. A queue stores the cursors of 1,000 readers.
    func keep(_ cursor: EventCursor, of reader: String, on queue: String) async throws(BrokerError)
}
