/// What a transition has to tell: events for whoever watches, hints for sessions.
struct MemoryOutbox: Sendable {
    private(set) var messages: [[UInt8]] = []
    private(set) var hints: [(session: String, hint: WakeUp)] = []
    /// Jobs that came into a line, so that as many sessions are woken.
    var newWork = 0
    /// A session that waits for a hint from the end of the transition on.
    var waitsLater: String?

    static let mostMessageBytes = 32_000

    /// Adds an event, in the last message while it has room.
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
    /// Ends a transition: what it had to tell, with hints for as many waiting sessions as there are new jobs in line;
    /// those of a paused queue are told when it goes on.
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

    /// The next session to be told of work.
    mutating func takeIdle() -> String? {
        idle.isEmpty ? nil : idle.removeFirst()
    }

    mutating func count(_ what: MemoryTotal) { totals[what.rawValue, default: 0] += 1 }
}

/// What is counted; the names of ``QueueStatus/Totals``.
enum MemoryTotal: String {
    case pushed, dropped, replaced, finished, failed, cancelled, retried, recovered, released, dead
    case timedOut = "timed_out"
    case deadTrimmed = "dead_trimmed"
}
