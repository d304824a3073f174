public import Errand

extension TestBroker {
    /// Reads up to 100 events of the durable stream after a cursor.
    public func eventPage(of queue: String, after cursor: EventCursor) async throws(BrokerError) -> EventPage {
        try await memory.eventPage(of: queue, after: cursor)
    }

    /// Returns the stored cursor of a reader; `nil` if there is none.
    public func cursor(of reader: String, on queue: String) async throws(BrokerError) -> EventCursor? {
        try await memory.cursor(of: reader, on: queue)
    }

    /// Stores the cursor of a reader.
    public func keep(_ cursor: EventCursor, of reader: String, on queue: String) async throws(BrokerError) {
        try await memory.keep(cursor, of: reader, on: queue)
    }
}
