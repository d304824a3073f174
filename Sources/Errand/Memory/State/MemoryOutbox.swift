/// The output of a transition: events for subscribers and wake-ups for sessions.
struct MemoryOutbox: Sendable {
    private(set) var messages: [[UInt8]] = []
    private(set) var hints: [(session: String, hint: WakeUp)] = []
    /// The number of jobs that became ready; as many sessions are woken.
    var newWork = 0
    /// A session that waits for a wake-up from the end of the transition on.
    var waitsLater: String?

    static let mostMessageBytes = 32_000

    /// Adds an event to the last message, or to a new one if that is full.
    mutating func add(event line: [UInt8]) {
        if let last = messages.indices.last, messages[last].count + line.count < Self.mostMessageBytes {
            messages[last].append(UInt8(ascii: "\n"))
            messages[last].append(contentsOf: line)
        } else {
            messages.append(line)
        }
    }

    mutating func add(_ hint: WakeUp, for session: String) { hints.append((session, hint)) }
}

extension MemoryQueue {
    /// Ends a transition. Returns its output, with wake-ups for as many waiting sessions as there are new ready jobs.
    /// Sessions of a paused queue are woken when it is resumed.
    mutating func takeOutbox() -> MemoryOutbox {
        ended.settle(now: now, window: settings.rememberIDs)
        history.trim(before: now - settings.keepHistory)
        while !settings.isPaused, outbox.newWork > 0, let session = takeIdle() {
            outbox.add(.work(queue: name), for: session)
            outbox.newWork -= 1
        }
        if let session = outbox.waitsLater { idle.append(session) }
        defer { outbox = MemoryOutbox() }
        return outbox
    }

    /// Returns the next session to wake.
    mutating func takeIdle() -> String? {
        idle.isEmpty ? nil : idle.removeFirst()
    }

    mutating func count(_ what: MemoryTotal) { totals[what.rawValue, default: 0] += 1 }
}

/// The totals; the names of ``QueueStatus/Totals``.
enum MemoryTotal: String {
    case pushed, dropped, replaced, finished, failed, cancelled, retried, recovered, released, dead
    case timedOut = "timed_out"
    case deadTrimmed = "dead_trimmed"
}
