import Errand

/// What can be seen of one transition in Redis.
package struct Observation {
    package var answer: Answer
    var state: [Int64]
    /// The lines of the published events.
    var events: [UInt8]
    /// Sessions that were told that there is work, and that something is to stop.
    var woken: [String]
    var stopped: [String]
    /// The job that a session was given before it asked for it.
    var dispatch: GivenDispatch?
    /// Sessions that wait for a wake-up.
    var waiting: [String]

    /// What differs from what a queue in memory did, or `nil`.
    func difference(from queue: MemoryQueue, _ expected: Answer, _ universe: Universe) -> String? {
        if answer != expected.ordered { return "answered \(answer)\n  memory \(expected)" }
        let lines = Array(queue.effects.events.map(\.line).joined(separator: [10]))
        if events != lines {
            let texts = [events, lines].map { String(decoding: $0, as: UTF8.self) }
            return "published\n\(texts[0])\n memory\n\(texts[1])"
        }
        if let what = StateDump(queue, universe).difference(from: state) { return what }
        if waiting.sorted() != queue.idle.sorted() { return "waiting sessions are \(waiting), not \(queue.idle)" }
        return differentWakeUps(queue.effects)
    }

    private func differentWakeUps(_ effects: MemoryEffects) -> String? {
        if woken != effects.woken { return "woke \(woken), not \(effects.woken)" }
        if dispatch != effects.dispatch {
            return "dispatched \(String(describing: dispatch)), not \(String(describing: effects.dispatch))"
        }
        // In one call the wake-ups of several stops may come in any order.
        if stopped.sorted() != effects.stopped.sorted() { return "told to stop \(stopped), not \(effects.stopped)" }
        return nil
    }
}

extension Answer {
    /// Stops in the order of their ids, which is the broker's choice; and whether a call stopped at tombstones, which are
    /// Redis' own, left out.
    var ordered: Answer {
        switch self {
        case .beaten(var beat):
            beat.stops.sort { $0.id < $1.id }
            return .beaten(beat)
        case .exchanged(var reply):
            reply.hasMore = false
            return .exchanged(reply)
        default: return self
        }
    }
}
