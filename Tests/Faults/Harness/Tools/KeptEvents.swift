import Errand
import ErrandRedis

extension ScenarioContext {
    /// All that the queue's stream of events has kept, in its order. Its numbers must have no holes.
    func keptEvents() async throws -> [JobEvent] {
        var events: [JobEvent] = []
        var cursor = EventCursor.oldest
        while true {
            let page = try await console.eventPage(of: Self.queue, after: cursor)
            guard let last = page.entries.last?.last else { break }
            events += page.entries.flatMap(\.lines).compactMap(JobEvent.init(line:))
            cursor = last
        }
        expect(cursor.number == Int64(events.count), "of \(cursor.number) events \(events.count) were kept")
        return events
    }
}

extension JobEvent {
    /// What tells an event from every other one.
    var words: String {
        "\(event ?? "-") \(id ?? "-") \(attempt ?? 0) \(worker ?? "-") \(atMilliseconds ?? 0)"
    }
}

extension HeardEvents.Event {
    /// What tells an event from every other one.
    var words: String { "\(event) \(id) \(attempt) \(worker ?? "-") \(at_ms)" }
}
