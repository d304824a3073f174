/// How a job ended.
package enum MemoryEnding: Sendable {
    case finished, cancelled, replaced, expired, skipped, deleted

    package var state: JobState {
        switch self {
        case .finished: .finished
        case .cancelled: .cancelled
        case .replaced: .replaced
        case .expired: .expired
        case .skipped: .skipped
        case .deleted: .deleted
        }
    }
}

/// The ids of recently ended jobs, so that a job that is pushed again with the same id is recognized.
///
/// They are kept in two generations, and the older one is dropped as a whole. Each id is kept for at least the window,
/// or for less if more jobs end within it than a generation holds.
package struct EndedIDs: Sendable, Equatable {
    private struct Generation: Equatable {
        var endings: [String: MemoryEnding] = [:]
        var expires: Int64 = 0
    }

    static let mostInGeneration = 500_000

    private var current = Generation()
    private var older = Generation()
    private var since: Int64?
    /// The jobs that the current transition has ended.
    private var latest: [String: MemoryEnding] = [:]

    /// When the generations expire.
    package var expiries: [Int64] { [current.expires, older.expires] }

    package func ending(of id: String, now: Int64) -> MemoryEnding? {
        if let ending = latest[id] { return ending }
        if now < current.expires, let ending = current.endings[id] { return ending }
        return now < older.expires ? older.endings[id] : nil
    }

    mutating func remember(_ id: String, _ ending: MemoryEnding) { latest[id] = ending }

    /// Ends a transition. Generations change only here.
    mutating func settle(now: Int64, window: Int64) {
        guard !latest.isEmpty else { return }
        // An expired generation is dropped, so that it does not replace an older one that lives longer after a clock
        // was set back.
        if now >= current.expires { current = Generation() }
        // If the clock was set back, nothing is forgotten: the window begins anew.
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
