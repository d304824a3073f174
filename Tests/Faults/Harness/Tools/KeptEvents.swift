import Errand
import ErrandRedis

extension ScenarioContext {
    /// All events in the queue's stream, in order. Their numbers must have no gaps.
    func keptEvents(of queue: String = ScenarioContext.queue) async throws -> [JobEvent] {
        var events: [JobEvent] = []
        var cursor = EventCursor.oldest
        while true {
            let page = try await console.eventPage(of: queue, after: cursor)
            guard let last = page.entries.last?.last else { break }
            events += page.entries.flatMap(\.lines).compactMap(JobEvent.init(line:))
            cursor = last
        }
        expect(cursor.number == Int64(events.count), "of \(cursor.number) events \(events.count) were kept")
        return events
    }
}

extension JobEvent {
    /// The identity of an event.
    var words: String {
        "\(event ?? "-") \(id ?? "-") \(attempt ?? 0) \(worker ?? "-") \(atMilliseconds ?? 0)"
    }
}

extension HeardEvents.Event {
    /// The identity of an event.
    var words: String { "\(event) \(id) \(attempt) \(worker ?? "-") \(at_ms)" }
}
