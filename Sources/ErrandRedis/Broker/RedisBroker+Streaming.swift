public import Errand

extension RedisBroker {
    /// Reads the next entries of the stream: at most 100, or about 1 MiB, whichever comes first.
    public func eventPage(of queue: String, after cursor: EventCursor) async throws(BrokerError) -> EventPage {
        try await shrinking(from: 100) { count throws(BrokerError) in
            try await eventPage(of: queue, after: cursor, count: count)
        }
    }

    private func eventPage(
        of queue: String,
        after cursor: EventCursor,
        count: Int
    ) async throws(BrokerError) -> EventPage {
        var call = ScriptCall(.stream, on: queue)
        call.add(cursor.description)
        call.add(count)
        let answer = try await run(call).elements ?? []
        guard answer.count >= 2, answer.count.isMultiple(of: 2), let kept = answer[0].number, let last = answer[1].text
        else { throw unexpected("a page of events") }
        var entries: [EventPage.Entry] = []
        for index in stride(from: 2, to: answer.count, by: 2) {
            guard let end = answer[index].text.flatMap(EventCursor.init), let bytes = answer[index + 1].bytes else {
                throw unexpected("an entry of the stream")
            }
            entries.append(.init(last: end, lines: QueueEvents(queue: queue, message: bytes).lines))
        }
        return EventPage(kept: Int(clamping: kept), last: EventCursor(last), entries: entries)
    }

    /// Returns the stored cursor of a reader.
    public func cursor(of reader: String, on queue: String) async throws(BrokerError) -> EventCursor? {
        try await runCursor(of: reader, "", on: queue)
    }

    /// Stores the cursor of a reader.
    public func keep(_ cursor: EventCursor, of reader: String, on queue: String) async throws(BrokerError) {
        _ = try await runCursor(of: reader, cursor.description, on: queue)
    }

    private func runCursor(
        of reader: String,
        _ cursor: String,
        on queue: String
    ) async throws(BrokerError) -> EventCursor? {
        var call = ScriptCall(.cursor, on: queue)
        call.add(reader)
        call.add(cursor)
        guard let text = try await run(call).text else { throw unexpected("a cursor") }
        return EventCursor(text)
    }
}
