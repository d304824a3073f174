/// The output of a transition: events for subscribers and wake-ups for sessions.
package struct MemoryEffects: Sendable, Equatable {
    package var events: [MemoryEvent] = []
    package private(set) var wakeUps: [SessionWakeUp] = []
    /// The number of jobs that became ready; as many sessions are woken.
    var newWork = 0
    /// How many of these jobs come after others of their workflows, which have ended.
    var freedByWorkflows = 0
    /// Whether jobs of workflows have ended or died.
    var concernsWorkflows = false
    /// The full groups because of which jobs of a push were refused, by the jobs' indexes in the push.
    package var fullGroups: [Int: String] = [:]
    /// Whether the whole queue was held back, so that a session is woken for each claim that ends.
    var freesQueue = false
    /// A session that waits for a wake-up from the end of the transition on.
    var waitsLater: String?

    package struct SessionWakeUp: Sendable, Equatable {
        package let session: String
        package let wakeUp: WakeUp
    }

    package init() {}

    static let mostMessageBytes = 32_000

    /// The lines of the events, in messages of limited size.
    package var messages: [[UInt8]] {
        var messages: [[UInt8]] = []
        for line in events.lazy.map(\.line) {
            if let last = messages.indices.last, messages[last].count + line.count < Self.mostMessageBytes {
                messages[last].append(UInt8(ascii: "\n"))
                messages[last].append(contentsOf: line)
            } else {
                messages.append(line)
            }
        }
        return messages
    }

    mutating func add(_ wakeUp: WakeUp, for session: String) {
        wakeUps.append(SessionWakeUp(session: session, wakeUp: wakeUp))
    }
}
