extension MemoryBroker {
    /// Reads up to 100 events of the stream.
    public func eventPage(of queue: String, after cursor: EventCursor) async throws(BrokerError) -> EventPage {
        try change(queue) { $0.eventPage(after: cursor) }
    }

    /// Returns the stored cursor of a reader.
    public func cursor(of reader: String, on queue: String) async throws(BrokerError) -> EventCursor? {
        try change(queue) { queue throws(BrokerError) in try queue.cursor(of: reader) }
    }

    /// Stores a reader's cursor.
    public func keep(_ cursor: EventCursor, of reader: String, on queue: String) async throws(BrokerError) {
        try change(queue, creating: true) { queue throws(BrokerError) in try queue.keep(cursor, of: reader) }
    }
}
