public import Errand

extension TestBroker {
    /// Reads up to 100 events of the durable stream.
    public func eventPage(of queue: String, after cursor: EventCursor) async throws(BrokerError) -> EventPage {
        try await memory.eventPage(of: queue, after: cursor)
    }

    /// The cursor that is kept for a reader.
    public func cursor(of reader: String, on queue: String) async throws(BrokerError) -> EventCursor? {
        try await memory.cursor(of: reader, on: queue)
    }

    /// Keeps how far a reader has come.
    public func keep(_ cursor: EventCursor, of reader: String, on queue: String) async throws(BrokerError) {
        try await memory.keep(cursor, of: reader, on: queue)
    }
}
