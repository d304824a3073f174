/// How a job ended for good.
enum MemoryEnding: Sendable {
    case finished, cancelled, replaced, deleted

    var state: JobState {
        switch self {
        case .finished: .finished
        case .cancelled: .cancelled
        case .replaced: .replaced
        case .deleted: .deleted
        }
    }
}

/// The ids of jobs that ended lately, so that the same id pushed again makes no second job.
///
/// They are kept in two generations, and the older one is dropped whole: each id for at least the window, and for less
/// only when more end within it than a generation holds.
struct EndedIDs: Sendable {
    private struct Generation {
        var endings: [String: MemoryEnding] = [:]
        var expires: Int64 = 0
    }

    static let mostInGeneration = 500_000

    private var current = Generation()
    private var older = Generation()
    private var since: Int64?
    /// What the present transition has ended.
    private var latest: [String: MemoryEnding] = [:]

    func ending(of id: String, now: Int64) -> MemoryEnding? {
        if let ending = latest[id] { return ending }
        for generation in [current, older] where now < generation.expires {
            if let ending = generation.endings[id] { return ending }
        }
        return nil
    }

    mutating func remember(_ id: String, _ ending: MemoryEnding) { latest[id] = ending }

    /// At the end of a transition: until then, no generation gives way to another.
    mutating func settle(now: Int64, window: Int64) {
        guard !latest.isEmpty else { return }
        // What has expired is gone, and does not take the place of an older generation that, after a clock was put back,
        // has longer to live.
        if now >= current.expires { current = Generation() }
        // A clock that was put back is no reason to forget anything: the window begins anew.
        since = since.map { min($0, now) }
        if isOver(now: now, window: window) {
            if !current.endings.isEmpty { older = current }
            current = Generation()
            since = now
        }
        current.endings.merge(latest) { $1 }
        latest = [:]
        current.expires = MemoryRules.later(now, by: MemoryRules.later(window, by: window))
    }

    private func isOver(now: Int64, window: Int64) -> Bool {
        guard let since else { return true }
        return now - since >= window || current.endings.count >= Self.mostInGeneration
    }
}
