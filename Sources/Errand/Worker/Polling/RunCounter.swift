import Synchronization

/// Counts the runs of a queue's operations until they are recorded at the broker.
final class RunCounter: Sendable {
    private let counted = Mutex<[String: RunStatistics]>([:])

    /// Whether nothing was counted.
    var isEmpty: Bool { counted.withLock(\.isEmpty) }

    func count(_ ending: RunEnding, of operation: String, waited: Int) {
        counted.withLock { _ = $0[operation, default: RunStatistics()].add(ending, waited: waited) }
    }

    /// Returns what was counted, and begins anew.
    func take() -> [String: RunStatistics] {
        counted.withLock { counted in
            defer { counted = [:] }
            return counted.filter { $0.value.runs > 0 }
        }
    }

    /// Counts again what could not be recorded.
    func putBack(_ runs: [String: RunStatistics]) {
        counted.withLock { $0.merge(runs) { new, old in new.merged(with: old) } }
    }
}

extension RunStatistics {
    fileprivate func merged(with other: Self) -> Self {
        var both = self
        both.merge(other)
        return both
    }
}
